"""`docs/configuration.md`, made of the table of variables and of the options of a server.

`python -m tests.sessions.core.configuration` writes it.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable, Iterator

from opencode_web.cli import arguments
from sessions.core import variables
from tests.server import ROOT

PAGE = ROOT / "docs/configuration.md"
HEAD = """\
# Configuration

What agents may do, which model answers and which servers there are is said by `opencode.json`, as for
OpenCode. What the program itself is and where it lives is said by the environment; a variable that is empty
is not set.

    opencode-web debug environment               # what is set, and what holds where something is not
    opencode-web debug config                    # what `opencode.json` and all that is beside it come to

Keys of providers are variables, too: [models.md](models.md). Behind a company's proxy `HTTPS_PROXY`,
`NO_PROXY`, `SSL_CERT_FILE` and `SSL_CERT_DIR` count. This page is made of `sessions/core/variables.py` and of
the command line; a test fails when it is no longer true.
"""


def page() -> str:
    parts = [HEAD]
    for title, group in variables.GROUPS.items():
        parts += [f"## {title}", "", *_table(group), ""]
    return "\n".join([*parts, "## Options of `serve`", "", *_options()]) + "\n"


def _options() -> Iterator[str]:
    commands = ArgumentParser().add_subparsers()
    arguments._declare(commands)
    yield "| option | |"
    yield "|---|---|"
    for action in commands.choices["serve"]._actions[1:]:  # after --help
        name = " ".join(filter(None, [*action.option_strings[:1], str(action.metavar or "")]))
        yield f"| `{name}` | {action.help} |"


def _table(group: Iterable[variables.Variable]) -> Iterator[str]:
    yield "| variable | without it | |"
    yield "|---|---|---|"
    for variable in group:
        default = f"`{variable.default}`" if variable.default else ""
        unit = f" {variable.unit}" if variable.unit else ""
        yield f"| `{variable.name}` | {default}{unit} | {variable.says} |"


if __name__ == "__main__":
    PAGE.write_text(page())
