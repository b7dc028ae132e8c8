"""This program, to be started anew."""

import sys

ITSELF = (sys.executable, "-P", "-m", "opencode_web")
"""Wherever that is: a project may have modules by the names of ours (`-P`: none is looked for there)."""
