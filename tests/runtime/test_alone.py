"""A fix of forty steps by an agent that works alone, on a real repository: nobody is asked anything."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agents.toolkit.sandbox import probe
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import ToolUse, Turn
from tests.runtime.asking import rows
from tests.server import Server, model_config, parts_of, running

pytestmark = pytest.mark.skipif(not probe.found().holds, reason=f"no sandbox: {probe.found().words}")
CALC = (
    "def mean(numbers):\n    return sum(numbers) / len(numbers) + 1\n\n\n"
    "def total(numbers):\n    return sum(numbers)\n"
)
TEST = (
    "import unittest\nfrom calc import mean, total\n\n\nclass Calc(unittest.TestCase):\n"
    "    def test_mean(self):\n        self.assertEqual(mean([1, 3]), 2)\n\n"
    "    def test_total(self):\n        self.assertEqual(total([1, 3]), 4)\n"
)
TESTS = f"{sys.executable} -m unittest -q 2>&1"
IDENTITY = "-c user.name=A -c user.email=a@example.org"
HERE = "python3 - <<'E'\nfrom calc import mean\nassert mean([2, 4]) == 3\nprint('held')\nE"
LOOP = f'for n in 1 2 3; do {sys.executable} -c "import calc; print(calc.mean([$n]))"; done'
SERVE = f"({sys.executable} -m http.server --bind 127.0.0.1 8765 >/tmp/served 2>&1 &) ; true"
ASK = "import urllib.request as u; print(u.urlopen('http://127.0.0.1:8765/notes/done.txt').read())"


def bash(command: str) -> ToolUse:
    return ToolUse("bash", {"command": command, "description": "Go on"})


def edit() -> ToolUse:
    old = "sum(numbers) / len(numbers) + 1"
    given = {"filePath": "calc.py", "oldString": old, "newString": old.removesuffix(" + 1")}
    return ToolUse("edit", given)


def write() -> ToolUse:
    more = TEST.replace("class Calc", "class More").replace("[1, 3]), 2", "[2, 2]), 2")
    return ToolUse("write", {"filePath": "test_more.py", "content": more})


STEPS = [
    bash("git status --short"),
    ToolUse("list", {"path": "."}),
    bash("ls -la; wc -l *.py"),
    bash("git log --oneline | head -3"),
    ToolUse("grep", {"pattern": "mean"}),
    bash('grep -rn "mean" --include=*.py .'),
    bash(TESTS),
    ToolUse("read", {"filePath": "calc.py"}),
    bash("cat calc.py | sed -n '1,3p'"),
    bash("git switch -qc fix-mean"),
    bash(f"{sys.executable} -c 'import calc; print(calc.mean([1, 3]))'"),
    bash(LOOP),
    bash("find . -name '*.py' -newer hello.py | xargs -r wc -l"),
    bash("git blame -s calc.py | cut -c1-60"),
    bash("diff <(git show HEAD:calc.py) calc.py && echo same"),
    bash("echo $((1 + 3)) > /tmp/expected && cat /tmp/expected"),
    bash("test -f setup.cfg || echo none"),
    edit(),
    bash(TESTS),
    bash("git diff --stat; git diff | grep '^[-+]' | head"),
    bash(f"{sys.executable} -m compileall -q . && ls __pycache__ | wc -l"),
    bash("rm -r __pycache__"),
    write(),
    bash(TESTS),
    bash("awk 'END { print NR }' test_calc.py"),
    bash(HERE),
    bash("git add calc.py test_more.py"),
    bash(f"git {IDENTITY} commit -qm 'Take the mean as it is'"),
    bash("git show --stat HEAD; git log -1 --format=%s"),
    bash("mkdir -p notes && printf '%s\\n' fixed > notes/done.txt"),
    bash("tar czf /tmp/out.tgz notes && tar tzf /tmp/out.tgz"),
    bash("sed -i 's/fixed/mended/' notes/done.txt && cat notes/done.txt"),
    bash("git stash list; git branch --show-current"),
    bash(SERVE),
    bash(f'for i in $(seq 100); do {sys.executable} -c "{ASK}" && break; sleep 0.1; done'),
    bash("pkill -f http.server"),
    bash("sort -u calc.py | head -2; seq 3 | paste -sd+"),
    bash("which python3 git; env | grep -c PATH"),
    bash(TESTS),
    bash("git status --short; git rev-parse --abbrev-ref HEAD"),
]


def repository(project: Path) -> None:
    (project / "calc.py").write_text(CALC)
    (project / "test_calc.py").write_text(TEST)
    for words in ("add -A", f"{IDENTITY} commit -qm Second"):
        subprocess.run(["git", *words.split()], cwd=project, check=True)


def last_commit(project: Path) -> str:
    log = ["git", "log", "-1", "--format=%s"]
    return subprocess.run(log, cwd=project, capture_output=True, text=True, check=True).stdout.strip()


async def test_nobody_is_asked(home: Path, project: Path) -> None:
    repository(project)
    assert len(STEPS) == 40
    async with OpenAIServer([*(Turn(tools=[step]) for step in STEPS), Turn(text="Mended.")]) as model:
        config: dict[str, Any] = model_config(model.base_url)
        del config["permission"]
        async with running(Server(home, project, config)) as client:
            session = (await client.create_session("named"))["id"]
            await client.prompt(session, "Tests fail. Mend it, step by step.")
            parts = parts_of(await client.messages(session), "tool")
    states = [part["state"] for part in parts]
    assert [state["status"] for state in states] == ["completed"] * 40
    failed = [state["input"]["command"] for state in states if state["metadata"].get("exit")]
    assert failed == [TESTS], "the tests, before it was mended"
    assert {state["metadata"].get("sandbox") for state in states} == {"project", None}
    assert rows(home, "SELECT * FROM opencode_sessions_permissionrequest") == []
    assert last_commit(project) == "Take the mean as it is"
