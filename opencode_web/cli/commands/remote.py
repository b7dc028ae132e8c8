"""`opencode-web remote`: where the running server can be reached, and how that is protected."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from opencode_web.cli.link import answer_of
from opencode_web.cli.terminal import Stop, plain, say
from sessions.core import holding, paths

_PATH = "/settings/devices/reached"
_SIGNS = {"good": "ok", "warn": "!", "bad": "!!", "info": "-"}


def check(arguments: argparse.Namespace, directory: Path) -> None:
    """Ends with 1 where something is open that should not be. Raises Stop."""
    url = holding.server(paths.data_directory())
    if not url:
        raise Stop("no server runs with this data folder")
    findings = answer_of(url, _PATH)["findings"]
    if arguments.json:
        say(json.dumps(findings, indent=2, ensure_ascii=False))
    else:
        for finding in findings:
            say(f"{_SIGNS[finding['state']]:>2}  {plain(finding['title'])}")
            if finding["detail"]:
                say(f"    {plain(finding['detail'])}")
    if any(finding["state"] == "bad" for finding in findings):
        raise SystemExit(1)
