"""A little project and a conversation about it, for the pictures in docs/screenshots."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.loopback.script import HttpError, TokenUsage, ToolUse, Turn, Wait

FILES = {
    "README.md": "# Greeter\n\nSays hello.\n\n    python -m greeter\n",
    "pyproject.toml": '[project]\nname = "greeter"\nversion = "0.1.0"\nrequires-python = ">=3.11"\n',
    "greeter/__init__.py": "",
    "greeter/hello.py": '''\
"""What to say to whom."""


def greeting(name):
    return "Hello, " + name + "!"


def farewell(name):
    return "Goodbye, " + name + "!"
''',
    "greeter/__main__.py": '''\
"""The command line."""

import sys

from greeter.hello import greeting


def main():
    name = sys.argv[1]
    print(greeting(name))


if __name__ == "__main__":
    main()
''',
    "tests/test_hello.py": """\
from greeter.hello import farewell, greeting


def test_greeting():
    assert greeting("Ada") == "Hello, Ada!"


def test_farewell():
    assert farewell("Ada") == "Goodbye, Ada!"
""",
}

PYTEST = """\
#!/bin/sh
echo '============================= test session starts =============================='
echo 'collected 4 items'
echo
echo 'tests/test_hello.py::test_greeting PASSED                                [ 25%]'
echo 'tests/test_hello.py::test_greeting_in_french PASSED                      [ 50%]'
while [ ! -e "$HOME/go-on" ]; do sleep 0.05; done
echo 'tests/test_hello.py::test_unknown_language PASSED                        [ 75%]'
echo 'tests/test_hello.py::test_farewell PASSED                                [100%]'
echo
echo '============================== 4 passed in 0.03s ==============================='
"""
"""Plays the test run of the pictures; it stands still in the middle until `~/go-on` is there."""

PROMPT = "Let the greeter speak other languages too. French and German first; keep English as the default."

HELLO = """\
def greeting(name, language="en"):
    form = GREETINGS[language]
    return form.format(name=name)
"""

EDIT_HELLO = ToolUse(
    "edit",
    {
        "filePath": "greeter/hello.py",
        "oldString": 'def greeting(name):\n    return "Hello, " + name + "!"\n',
        "newString": 'GREETINGS = {\n    "en": "Hello, {name}!",\n    "fr": "Bonjour, {name} !",\n'
        '    "de": "Hallo, {name}!",\n}\n\n\n' + HELLO,
    },
)

EDIT_MAIN = ToolUse(
    "edit",
    {
        "filePath": "greeter/__main__.py",
        "oldString": "    name = sys.argv[1]\n    print(greeting(name))\n",
        "newString": '    name, *rest = sys.argv[1:] or ["world"]\n    print(greeting(name, *rest))\n',
    },
)

WRITE_TESTS = ToolUse(
    "edit",
    {
        "filePath": "tests/test_hello.py",
        "oldString": "def test_farewell():",
        "newString": "def test_greeting_in_french():\n"
        '    assert greeting("Ada", "fr") == "Bonjour, Ada !"\n\n\n'
        "def test_unknown_language():\n    with pytest.raises(KeyError):\n"
        '        greeting("Ada", "tlh")\n\n\ndef test_farewell():',
    },
)

IMPORT_PYTEST = ToolUse(
    "edit",
    {
        "filePath": "tests/test_hello.py",
        "oldString": "from greeter.hello import farewell, greeting\n",
        "newString": "import pytest\n\nfrom greeter.hello import farewell, greeting\n",
    },
)

PLAN = ("Look at how greetings are made", "Add French and German", "Take the language from the command line")
TESTS = "Cover it with tests"


def _todos(done: int) -> ToolUse:
    items = [
        {
            "content": content,
            "status": "completed" if number < done else "in_progress" if number == done else "pending",
            "priority": "medium",
        }
        for number, content in enumerate((*PLAN, TESTS))
    ]
    return ToolUse("todowrite", {"todos": items})


def _used(step: int) -> TokenUsage:
    return TokenUsage(input=2_000 + 900 * step, output=320, cache_read=9_000 + 3_000 * step)


STORY = (
    Turn(
        reasoning="The greeting is built by hand in hello.py. A table of formats keeps it in one place.",
        text=[
            "I will look at the code first, then make a small table of greetings:\n\n",
            '```python\nGREETINGS = {\n    "en": "Hello, {name}!",\n    "fr": "Bonjour, {name} !",\n',
            '    "de": "Hallo, {name}!",\n}\n```\n\n',
            "- `greeting(name)` stays as it is for everybody who calls it today\n",
            "- a language that nobody has added yet is a `KeyError`, **not** a silent",
            Wait("streaming"),
            " fallback\n",
        ],
        tools=[
            ToolUse("read", {"filePath": "greeter/hello.py"}),
            ToolUse("grep", {"pattern": r"greeting\(", "include": "*.py"}),
            _todos(1),
        ],
        usage=_used(0),
    ),
    Turn(tools=[EDIT_HELLO, _todos(2)], usage=_used(1)),
    Turn(
        text="Now the command line takes the language as its second argument.",
        tools=[EDIT_MAIN],
        usage=_used(2),
    ),
    Turn(tools=[_todos(3), IMPORT_PYTEST, WRITE_TESTS], usage=_used(3)),
    Turn(tools=[ToolUse("bash", {"command": "pytest -v", "description": "Run the tests"})], usage=_used(4)),
    Turn(tools=[_todos(4)], usage=_used(5)),
    Turn(
        text="The greeter speaks English, French and German now:\n\n"
        "| Call | Says |\n| --- | --- |\n"
        '| `greeting("Ada")` | Hello, Ada! |\n'
        '| `greeting("Ada", "fr")` | Bonjour, Ada ! |\n'
        '| `greeting("Ada", "de")` | Hallo, Ada! |\n\n'
        "On the command line the language comes second: `python -m greeter Ada fr`. All four tests pass.",
        usage=_used(6),
    ),
)
"""Stands still at the gate `streaming`, at the permission for `greeter/__main__.py` and in the test run."""

ASKED = {"Build the package": "python -m build --wheel", "Check the types": "python -m mypy --strict greeter"}
"""By the title of a session the command that waits for an answer in it."""

TROUBLE = (
    Turn(
        text="I run the linter first.",
        tools=[
            ToolUse("bash", {"command": "ruff-nightly check greeter", "description": "Lint the package"}),
            ToolUse(
                "edit",
                {"filePath": "greeter/hello.py", "oldString": "def hello(", "newString": "def greet("},
            ),
            ToolUse("read", {"filePath": "greeter/polite.py"}),
        ],
        usage=_used(0),
    ),
    Turn(fault=HttpError(401, "The key is not valid for this provider.")),
)

BROKEN_CONFIG = '{\n  "permission": {\n    "edit": "perhaps"\n  }\n}\n'


def make(home: Path) -> Path:
    """The project in `home`, a git repository with one commit, and the `pytest` it is tested with."""
    project = home / "code" / "greeter"
    for name, text in FILES.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    script = home / "bin" / "pytest"
    script.parent.mkdir()
    script.write_text(PYTEST)
    script.chmod(0o755)
    identity = ["config", "user.name", "Ada"], ["config", "user.email", "ada@example.com"]
    for arguments in (["init", "-q"], *identity, ["add", "-A"], ["commit", "-q", "-m", "Say hello"]):
        subprocess.run(["git", *arguments], cwd=project, check=True)
    return project
