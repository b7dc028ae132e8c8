from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from agents.toolkit.permission.rules import Rule, from_config
from agents.toolkit.permission.shell import ShellAnalysis, analyse
from tests.agents.toolkit.permission.deciding import decide


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "project"
    (folder / "sub").mkdir(parents=True)
    return folder


def texts(line: str) -> list[str]:
    return [command.text for command in analyse(line, Path("/"), Path("/")).commands]


def always(line: str) -> list[str | None]:
    return [command.always for command in analyse(line, Path("/"), Path("/")).commands]


def external(analysis: ShellAnalysis) -> set[str]:
    return {str(folder) for folder in analysis.external}


@pytest.mark.parametrize(
    "line",
    [
        "ls && rm x",
        "ls; rm x",
        "ls\nrm x",
        "ls || rm x",
        "ls | rm x",
        "ls & rm x",
        "(ls; rm x)",
        "{ ls; rm x; }",
        "! rm x",
        "echo $(rm x)",
        'echo "a $(rm x) b"',
        "echo `rm x`",
        "echo ${A:-$(rm x)}",
        "echo $(( $(rm x) + 1 ))",
        "A=$(rm x)",
        "A=$(rm x) ls",
        "export A=$(rm x)",
        "arr=(a $(rm x))",
        "diff <(rm x) >(cat)",
        "f() { rm x; }; f",
        "for i in 1 2; do rm x; done",
        "for i in $(rm x); do ls; done",
        "while rm x; do ls; done",
        "until ls; do rm x; done",
        "if ls; then rm x; fi",
        "if ls; then a; elif rm x; then b; fi",
        "case a in b) rm x;; esac",
        "[[ $(rm x) ]] && ls",
        "cat <<EOF\n$(rm x)\nEOF",
        "ls > $(rm x)",
        "bash <<'EOF'\nrm x\nEOF",
        "sudo bash -s <<EOF\nrm x\nEOF",
        "sh <<< 'rm x'",
        ". /dev/stdin <<< 'rm x'",
        "rm > log x",
        "rm 2>&1 x",
        "rm <<EOF x\nEOF",
        "rm <<< a x",
        "> log rm x",
        "bash -c 'rm x'",
        "bash -lc 'ls; rm x'",
        "sh -o errexit -c 'rm x'",
        "eval rm x",
        "eval 'ls; rm x'",
        "trap 'rm x' EXIT",
        "watch -n 1 'rm x'",
        "env -S 'rm x'",
        "su -c 'rm x' root",
        "sudo rm x",
        "sudo -u root -- rm x",
        "sudo -nu root rm x",
        "sudo A=1 rm x",
        "env -i A=1 rm x",
        "timeout -k 5 --signal=KILL 10 rm x",
        "nice -n 5 rm x",
        "nohup nice rm x",
        "time -p rm x",
        "command rm x",
        "exec -a name rm x",
        "ls | xargs -n 1 -I{} rm x",
        "stdbuf -oL rm x",
        "setsid rm x",
        "doas -u root rm x",
        "chroot /mnt rm x",
        "ionice -c 3 rm x",
        "sudo env timeout 5 xargs nohup bash -c 'rm x'",
        "find . -name a -exec rm x ';'",
        "find . -execdir ls {} + -exec rm x +",
        "A=1 rm x",
        "rm   x",
        "r\\m x",
        "'rm' \"x\"",
        "r'm' x",
        "rm \\\n x",
        "rm\\\n x",
        "/bin/rm x",
        "sudo /usr/bin/rm x",
    ],
)
def test_every_command_of_a_line_is_found(line: str) -> None:
    assert "rm x" in texts(line)
    assert decide("bash", texts(line), from_config({"bash": {"*": "allow", "rm *": "deny"}}), []) == "deny"


def test_the_wrapped_command_and_the_whole_are_both_checked() -> None:
    assert texts("sudo timeout 5 git status") == [
        "sudo timeout 5 git status",
        "timeout 5 git status",
        "git status",
    ]


@pytest.mark.parametrize("line", ["$CMD status", "$(echo git) status", "`echo git` status", "g$X status"])
def test_a_dynamic_command_matches_no_pattern_of_another_command(line: str) -> None:
    rules = from_config({"bash": {"*": "ask", "git *": "allow", "echo *": "allow"}})
    assert decide("bash", texts(line), rules, []) == "ask"
    assert always(line)[-1] is None


@pytest.mark.parametrize(
    "line", ["PATH=/evil git status", "LD_PRELOAD=./x.so git status", "export PATH=/evil; git status"]
)
def test_a_variable_that_changes_what_runs_is_checked_by_itself(line: str) -> None:
    rules = from_config({"bash": {"*": "ask", "git *": "allow", "export *": "allow"}})
    assert decide("bash", texts(line), rules, []) == "ask"
    assert decide("bash", texts("CI=1 git status"), rules, []) == "allow"


@pytest.mark.parametrize(
    ("line", "pattern"),
    [
        ("git status --short", "git status *"),
        ("git status", "git status *"),
        ("npm run build -- --watch", "npm run build *"),
        ("ls -la", "ls *"),
        ("make", "make"),
        ("timeout 5 git log -3", "timeout 5 git log *"),
        ("git -C sub status", "git -C sub status"),
        ("rm -rf build", "rm -rf build"),
        ("rm *.o", None),
        ("python -m pytest", "python -m pytest"),
        ("bash -c 'ls -a'", "bash -c 'ls -a'"),
        ("uv run python x.py", "uv run python x.py"),
        ("git $X", None),
        ("sudo rm $X", None),
    ],
)
def test_what_always_would_allow(line: str, pattern: str | None) -> None:
    assert always(line)[0] == pattern
    if pattern:
        approved = [Rule("bash", pattern, "allow")]
        assert decide("bash", texts(line)[:1], from_config({"bash": "ask"}), approved) == "allow"


@pytest.mark.parametrize(
    "line",
    [
        "git status &&",
        'git status "open',
        "git $((",
        "time { rm x; }",
        "echo `git \\`rm x\\``",
        "g\\\nit x",
        "ls;r\\\nm x",
        "git status; if true; then rm x",
        "(" * 500,
    ],
)
def test_a_line_that_does_not_parse_asks_for_the_whole_and_offers_nothing(line: str) -> None:
    analysis = analyse(line, Path("/"), Path("/"))
    assert analysis.errors
    assert line in analysis.commands[0].text
    assert not any(command.always for command in analysis.commands)
    rules = from_config({"bash": {"*": "ask", "git *": "allow", "rm *": "allow", "true": "allow"}})
    assert decide("bash", [command.text for command in analysis.commands], rules, []) == "ask"


def test_deep_nesting_ends_in_errors_not_in_a_crash() -> None:
    assert analyse("$(" * 400 + "ls" + ")" * 400, Path("/"), Path("/")).errors
    assert analyse("nohup " * 1000 + "ls", Path("/"), Path("/")).errors
    assert analyse("; ".join(f"a || cd d{i}" for i in range(20)), Path("/"), Path("/")).errors


@pytest.mark.parametrize(
    ("line", "folders"),
    [
        ("cat ../x", {"{up}"}),
        ("cat sub/../../x", {"{up}"}),
        ("cat /etc/passwd", {"/etc"}),
        ("ls /etc", {"/etc"}),
        ("rm ~/x", {"{home}"}),
        ('rm "$HOME/x" ${HOME}/y', {"{home}"}),
        ("D=/etc; cat $D/passwd", {"/etc"}),
        ("cat /etc/*.conf /etc/$X", {"/etc"}),
        ("cd ..", {"{up}"}),
        ("cd", {"{home}"}),
        ("cd sub && cat ../x", set()),
        ("cd sub && cat ../../x", {"{up}"}),
        ("cd sub; cat ../x", set()),
        ("mkdir new && cd new && cat ../x", set()),
        ("false && cd sub; cat ../x", {"{up}"}),
        ("cd missing; cat ../x", {"{up}"}),
        ("cd sub & cat ../x", {"{up}"}),
        ("(cd sub); cat ../x", {"{up}"}),
        ("cd sub | ls; cat ../x", {"{up}"}),
        ("echo x > ../y", {"{up}"}),
        ("echo x >> /etc/y", {"/etc"}),
        ("cat < /etc/passwd", {"/etc"}),
        ("ls > /dev/null 2>&1 < /dev/stdin", set()),
        ("echo x | tee /etc/a", {"/etc"}),
        ("dd if=/dev/zero of=/etc/x", {"/etc"}),
        ("tar -C /etc -xf a.tar", {"/etc"}),
        ("cp --target-directory=/etc a", {"/etc"}),
        ("find /etc . -name /x", {"/etc"}),
        ("sed -i /x/d sub/a", set()),
        ("grep /x/ /etc/passwd", {"/etc"}),
        ("python /etc/x.py /ignored", {"/etc"}),
        ("git clone url /etc/x", {"/etc"}),
        ("sudo env A=1 rm /etc/x", {"/etc"}),
        ("bash -c 'cd /etc; rm x'", {"/etc"}),
        ("cat link/x", {"{up}/elsewhere"}),
        ("../run.sh", {"{up}"}),
        ("bin/python x.py", set()),
        ("/usr/bin/env ls", set()),
        ("../venv/bin/python -m pytest", set()),
        ("~/.venvs/x/bin/pip list && env A=1 ../venv/bin/python -c ''", set()),
        ("/srv/app/node_modules/.bin/tsc -p .", set()),
        ("../venv/bin/python /etc/x.py", {"/etc"}),
        ("../venv/bin/python x.py > /etc/y", {"/etc"}),
        ("../venv/bin/cat ../secret", {"{up}"}),
        ("cd ../venv && bin/python", {"{up}"}),
        ("../venv/bin/$(id)", {"{up}/venv"}),
        ("../bin/../run.sh", {"{up}"}),
        ("echo ../x /etc/y", set()),
    ],
)
def test_folders_outside_of_the_worktree(line: str, folders: set[str], project: Path) -> None:
    (project.parent / "elsewhere").mkdir()
    (project / "link").symlink_to(project.parent / "elsewhere")
    (project / "bin").mkdir()
    (project / "bin" / "python").symlink_to("/usr/bin/python3")
    expected = {item.format(up=project.parent, home=Path.home().resolve()) for item in folders}
    assert external(analyse(line, project, project)) == expected


def test_written_paths_are_real_paths(project: Path) -> None:
    line = "echo x > .git/hooks/a; cd sub && cp ../b ../opencode.json; sed -i s/a/b/ c; cat d"
    written = [str(path.relative_to(project)) for path in analyse(line, project, project).written]
    assert written == [".git/hooks/a", "opencode.json", "sub/c"]


@pytest.mark.parametrize(
    "word", ["a\\ b", "'a  b'", '"a\\"b\\\\"', "a'b'\"c\"", "$'a b'", "~", '"$HOME/x y"']
)
def test_words_say_what_bash_makes_of_them(word: str, project: Path) -> None:
    script = f"printf %s {word}"
    expected = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout
    assert [str(path) for path in analyse(f"touch {word}", project, project).written] == [
        str((project / expected).resolve())
    ]


@pytest.mark.parametrize(
    "words",
    [
        "{a,b}", "x{a,b}y", "{a,b}{c,d}", "{a,{b,c}}", "{a,b", "a}", "{}", "{a}", "{1..3}", "{3..1}",
        "{01..3}",
        "x{,a}y",
        "{a,b}.{c,d}", "{{a,b},c}", "{a,b}}", "{{a,b}", "a{b,c}{}",
        "{a..c}", "{-1..1}",
        "{}{a,b}", "a{}{b,c}d",
        "$'a\\tb'", "$'\\x41\\102\\u0043'", "$'it\\'s'", "$'\\e[0m'", "$'a\\\\b'",
    ],
)  # fmt: skip
def test_braces_and_escapes_are_resolved_as_bash_does_or_left_open(words: str) -> None:
    script = f"printf '%s\\0' {words}"
    printed = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout
    [command] = analyse(f"touch {words}", Path("/"), Path("/")).commands[-1:]
    assert command.dynamic or list(command.words[1:]) == printed.split("\0")[:-1]
