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

## Where `opencode.json` lies

In the order of OpenCode; what comes later counts over what came before
([0058](decisions/0058-whose-configuration.md)). `opencode.jsonc` is read after `opencode.json` everywhere;
folders have `agents/`, `commands/`, `modes/`, `skills/`, `plugins/`, `tools/` and `themes/` beside it.

| | whose |
|---|---|
| `~/.config/opencode/` (`config.json` too, and `AGENTS.md`) | yours |
| the file of `OPENCODE_CONFIG` | yours |
| the project, from its root down to the folder of the session | the project's |
| `.opencode/` in the same folders | the project's |
| `~/.opencode/` | yours; the project's where your home folder is the project |
| the folder of `OPENCODE_CONFIG_DIR` | yours; the project's where it lies in the project |
| `OPENCODE_CONFIG_CONTENT` | yours |
| `/etc/opencode/`, the files alone | of who looks after the machine |
| `OPENCODE_PERMISSION`, `OPENCODE_DISABLE_AUTOCOMPACT`, `OPENCODE_DISABLE_PRUNE` | yours |

What is the project's waits for trust where it runs or reaches something ([0007](decisions/0007-trust.md)).
"""

BESIDE = """\
## What OpenCode reads besides

Not used here; `opencode-web debug environment` says so of those that are set.
"""


def page() -> str:
    parts = [HEAD]
    for title, group in variables.GROUPS.items():
        parts += [f"## {title}", "", *_table(group), ""]
    parts += [BESIDE, *_beside(), ""]
    return "\n".join([*parts, "## Options of `serve`", "", *_options()]) + "\n"


def _beside() -> Iterator[str]:
    yield "| variable | |"
    yield "|---|---|"
    for why, names in variables.NOT_READ.items():
        yield f"| {', '.join(f'`{name}`' for name in names)} | {why} |"


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
