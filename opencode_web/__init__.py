"""The Django project of opencode-web: settings, ASGI wiring, command line, security, configuration."""

from opencode_web import locate

__version__ = "0.1.0"

# `sessions` and `agents` are no site packages: whoever imports this package can import them afterwards.
locate.use_root()
