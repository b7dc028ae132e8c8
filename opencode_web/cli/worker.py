"""`opencode-web worker`: turns in a process of their own, beside the one that serves pages."""

from __future__ import annotations

import argparse

from opencode_web import logs
from opencode_web.cli.django import prepare_django, wired

WORKER = "agents.worker.run"


def run(arguments: argparse.Namespace) -> None:
    logs.set_up(print_logs=arguments.print_logs)
    prepare_django()
    wired(WORKER)()
