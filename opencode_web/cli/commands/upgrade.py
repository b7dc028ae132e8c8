"""`opencode-web upgrade`: how a newer version is had. Nothing is changed by it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import opencode_web
from opencode_web.cli.terminal import say


def explain(arguments: argparse.Namespace, directory: Path) -> None:
    top = Path(opencode_web.__file__).parents[1]
    say(f"opencode-web {opencode_web.__version__} does not upgrade itself. By hand:")
    if (top / ".git").exists():
        say(f"  git -C {top} pull")
        say("  and start it again by `make run`, which installs what became necessary.")
    else:
        say("  fetch the newer sources, and in their folder:")
        say(f"  {sys.executable} -m pip install --upgrade .")
    say("The database is brought along at the next start; `opencode-web backup FOLDER` copies it before.")
