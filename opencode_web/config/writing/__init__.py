"""Changes of OpenCode's configuration files by a person: what is written by hand around them stays."""

from opencode_web.config.writing.change import change, preview

__all__ = ["change", "preview"]
