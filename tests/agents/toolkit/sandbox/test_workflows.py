"""What people have agents do every day, in the sandbox, by the programs that they use."""

from __future__ import annotations

import shutil
import sys

import pytest

from agents.toolkit.permission.rules import Rule
from agents.toolkit.sandbox import probe
from tests.agents.toolkit.sandbox.scene import Scene

pytestmark = pytest.mark.skipif(not probe.found().holds, reason=f"no sandbox: {probe.found().words}")
OPEN = [Rule("network", "*", "allow"), Rule("private_address", "*", "allow")]
PYPROJECT = (
    '[build-system]\\nrequires = ["setuptools"]\\n[project]\\nname = "mine"\\nversion = "1"\\n'
    '[tool.setuptools]\\npy-modules = ["mine"]\\n'
)
SERVED = (
    "import threading, urllib.request as u\n"
    "from http.server import HTTPServer, SimpleHTTPRequestHandler as H\n"
    "def test_served():\n"
    "    server = HTTPServer(('127.0.0.1', 0), H)\n"
    "    threading.Thread(target=server.handle_request).start()\n"
    "    assert u.urlopen(f'http://127.0.0.1:{server.server_port}/').status == 200\n"
)


@pytest.fixture(autouse=True)
def laid_out(place: Scene) -> None:
    place.lay_out()


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not shutil.which(program), reason=f"{program} is not on PATH")


OFFLINE = {
    "pytest with a server on the loopback": (
        f"cat > test_it.py <<'E'\n{SERVED}E\n"
        f"{sys.executable} -m pytest -q -c /dev/null -p no:cacheprovider test_it.py",
        "1 passed",
    ),
    "unittest": (
        "printf 'import unittest\\nclass T(unittest.TestCase):\\n  def test_a(self): pass\\n' > test_a.py"
        " && python3 -m unittest 2>&1",
        "OK",
    ),
    "a program in C, with make and two jobs": (
        "printf 'int main(void){return 0;}' > a.c && cp a.c b.c"
        " && printf 'all: a b\\n%%: %%.c\\n\\tgcc -o $@ $<\\n' > Makefile"
        " && make -sj2 && ./a && ./b && echo built",
        "built",
    ),
    "an interactive program without a terminal": ("python3 -c 'input()' ; echo ended", "EOFError"),
    "sudo, which is refused": ("sudo -n true 2>&1 || echo refused", "refused"),
    "docker, which is out of sight": (
        "test ! -e /var/run/docker.sock && test ! -e /run/docker.sock && echo none",
        "none",
    ),
    "an archive": ("mkdir d && echo x > d/x && tar czf d.tgz d && rm -r d && tar xzf d.tgz && cat d/x", "x"),
    "a patch": ("echo a > a && echo b > b; diff -u a b | patch -s a && cat a", "b"),
    "a virtual environment": ("python3 -m venv --without-pip v && v/bin/python -c 'print(6*7)'", "42"),
    "git with a stash, a branch and a merge": (
        "git config user.name >/dev/null; export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=A"
        " GIT_COMMITTER_EMAIL=a@b; git switch -qc one && echo 1 > one && git add one && git commit -qm One"
        " && git switch -q - && git merge -q --no-edit one && git log --oneline | grep One",
        "One",
    ),
    "node with a server on the loopback": (
        "node -e \"const s=require('http').createServer((q,a)=>a.end('served'))"
        ".listen(0,'127.0.0.1',async()=>{console.log(await (await fetch('http://127.0.0.1:'+s.address().port)).text());s.close()})\"",
        "served",
    ),
}
"""By what it is: the line, and what it says where it went well."""


@pytest.mark.parametrize("name", OFFLINE)
async def test_it_works_without_a_network(place: Scene, name: str) -> None:
    line, word = OFFLINE[name]
    said, _ = await place.run(line, "offline", seconds=120)
    assert word in said


async def test_a_browser_without_a_window(place: Scene, chromium_path: str) -> None:
    (place.work / "page.html").write_text(
        "<title>Page</title><body><script>document.body.append(6 * 7)</script>"
    )
    line = (
        f"{chromium_path} --headless --no-sandbox --disable-gpu --dump-dom file://$PWD/page.html 2>/dev/null"
    )
    said, _ = await place.run(line, "project", seconds=120)
    assert "42</body>" in said


@needs("go")
@pytest.mark.slow
async def test_go_build(place: Scene) -> None:
    line = (
        "printf 'module m\\ngo 1.18\\n' > go.mod"
        " && printf 'package main\\nfunc main() { println(42) }\\n' > m.go && go build -o m . && ./m 2>&1"
    )
    said, _ = await place.run(line, "offline", seconds=300)
    assert "42" in said


@needs("cargo")
@pytest.mark.slow
async def test_cargo_build(place: Scene, user_environ: dict[str, str]) -> None:
    toolchains = user_environ.get("RUSTUP_HOME") or f"{user_environ['HOME']}/.rustup"
    line = (
        f"export RUSTUP_HOME={toolchains}; cargo init -q --vcs none --name m . && cargo -q run --offline 2>&1"
    )
    said, _ = await place.run(line, "offline", seconds=300)
    assert "Hello, world!" in said


@pytest.mark.long
@pytest.mark.slow
async def test_npm_install_and_test(place: Scene) -> None:
    line = (
        "npm init -y >/dev/null && echo 'require(\"is-number\")(7) && console.log(42)' > t.js"
        " && npm pkg set scripts.test='node t.js'"
        " && npm install --no-audit --no-fund is-number 2>&1 && npm test 2>&1"
    )
    said, ended = await place.run(line, "project", seconds=300, rules=OPEN)
    assert ended.exit_code == 0, said
    assert "\n42" in said


@pytest.mark.long
@pytest.mark.slow
async def test_pip_install_of_the_project_itself(place: Scene) -> None:
    line = (
        f"printf '{PYPROJECT}' > pyproject.toml && echo 'answer = 42' > mine.py && {sys.executable} -m venv v"
        " && v/bin/pip install -q -e . 2>&1"
        " && cd / && \"$OLDPWD\"/v/bin/python -c 'import mine; print(mine.answer)'"
    )
    said, ended = await place.run(line, "project", seconds=300, rules=OPEN)
    assert ended.exit_code == 0, said
    assert "42" in said
