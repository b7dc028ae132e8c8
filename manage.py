"""Django's command line; `opencode-web manage …` is the same for an installed package."""

from __future__ import annotations

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "opencode_web.settings")
    execute_from_command_line(sys.argv)
