"""OpenCode's configuration files: found, read, merged, checked."""

from opencode_web.config.loader import Loaded, load
from opencode_web.config.problem import Problem

__all__ = ["Loaded", "Problem", "load"]
