"""`opencode-web manage …`: Django's own commands."""

from __future__ import annotations

import argparse

from django.core.management import execute_from_command_line


def run(arguments: argparse.Namespace) -> None:
    execute_from_command_line(["opencode-web manage", *arguments.rest])
