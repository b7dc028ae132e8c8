# ruff: noqa: E501  (tables of pieces of lines)
"""Random lines of bash whose commands do not exist: what a shell would run can be watched without harm."""

from __future__ import annotations

import random
from collections.abc import Callable

_NAMES = ("x", "y", "a", "i")


class Lines:
    """Lines from a seed: `next()` gives another one. Commands are `c0` to `c9`."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def next(self) -> str:
        if self.random.random() < 0.5:
            line = self.either(
                lambda: self.wrapper(1), lambda: self.builtin(1), lambda: self.here(1), lambda: self.simple(1)
            )
            return self.mutated(line) if self.random.random() < 0.5 else line
        text = "".join(
            f"{self.statement(3)}{self.one('; ', '; ', ' && ', chr(10))}" for _ in range(self.count(2))
        )
        line = text + self.statement(3)
        return self.mutated(line) if self.random.random() < 0.4 else line

    def one(self, *choices: str) -> str:
        return self.random.choice(choices)

    def count(self, most: int) -> int:
        return self.random.randint(0, most)

    def either(self, *makers: Callable[[], str]) -> str:
        return self.random.choice(makers)()

    def mutated(self, line: str) -> str:
        """A few letters that mean something put in, taken out or doubled."""
        special = "$`'\"\\(){}[]<>|&;#!@*?~=:/,-+^%\n\t \r"
        for _ in range(self.random.randint(1, 3)):
            at = self.random.randint(0, len(line))
            line = self.one(
                line[:at] + self.random.choice(special) + line[at:],
                line[:at] + line[at + 1 :],
                line[:at] + "\\\n" + line[at:],
                line[:at] + line[at : at + 1] + line[at:],
            )
        return line

    def command(self) -> str:
        return self.one(*(f"c{number}" for number in range(10)))

    def name(self) -> str:
        return self.one("c0", "c1", "c2", self.command(), self.hidden_name())

    def hidden_name(self) -> str:
        made = self.command()
        return self.one(
            f"\\{made}", f"'{made}'", f'"{made}"', f"$'\\x63{made[1]}'", f"{made[0]}''{made[1]}", f"$'{made}'",
            f"{{{made},z}}", f"{made[0]}\\\n{made[1]}", f"${{x:-{made}}}", "$x", f"$(echo {made})", f"`echo {made}`",
            f"{made[0]}{{{made[1]},9}}",
        )  # fmt: skip

    def substitution(self, depth: int) -> str:
        inner = self.statement(depth - 1) if depth > 0 else self.command()
        return self.one(
            f"$({inner})", f"`{self.command()}`", f"$( {inner} )", f"<({inner})", "`echo \\`c3\\``"
        )

    def word(self, depth: int) -> str:
        if depth <= 0:
            return self.one("w", "-n", "'q'", '"d"', "$x", "a=b", "w.py", "1")
        return self.either(
            lambda: self.one(
                "w", "-f", "-v", "w*", "*.py", "~", "'s $(c9) `c9`'", "a\\ b", "1", "x[1]", "#", "!", "-eq"
            ),
            lambda: self.one(
                "w", "'q'", '"d w"', "$'a\\tb\\'c'", '$"t"', "{a,b}", "{1..3}", "{}", "a{b,c{d,e}}f"
            ),
            lambda: self.substitution(depth),
            lambda: f'"{self.word(depth - 1).replace(chr(34), "")}"',
            lambda: f'"{self.substitution(depth)} {self.substitution(depth)}"',
            lambda: self.expansion(depth),
            lambda: f'"{self.expansion(depth)}"',
            lambda: self.word(depth - 1) + self.word(depth - 1),
            lambda: f"$(({self.number(depth)}))",
            lambda: f"$[{self.number(depth)}]",
        )

    def number(self, depth: int) -> str:
        return self.either(
            lambda: self.one("1", "x", "x+1", "a[i]", "x++", "y=2"),
            lambda: self.substitution(depth),
        )

    def expansion(self, depth: int) -> str:
        name = self.one(*_NAMES, "1", "@", "*", "#", "!x", "#x", "a[0]", "a[@]", "a[x]", "a[$(c4)]", "!a[0]")
        operator = self.one(
            "",
            ":-",
            "-",
            ":+",
            "+",
            ":=",
            "=",
            "#",
            "##",
            "%",
            "%%",
            "/",
            "//",
            "/#",
            "^",
            "^^",
            ",",
            ":",
            "@",
            "",
        )
        if not operator:
            return self.one(f"${{{name}}}", "$x", "$y", "${x}", "$@", "$#", "$?")
        if operator == "@":
            return f"${{{name}@{self.one('P', 'Q', 'E', 'A', 'U')}}}"
        inside = self.either(
            lambda: self.one(
                "w", "a b", "*.py", "1", "$y", "~", "'q'", "\\}", "x", "1:2", "a/b", "[a-z]", "/"
            ),
            lambda: self.substitution(depth - 1),
            lambda: self.word(depth - 1),
        )
        return f"${{{name}{operator}{inside}}}"

    def assignment(self, depth: int) -> str:
        value = self.either(
            lambda: self.word(depth),
            lambda: self.one(
                "'$(c5)'", "'a[$(c5)]'", "c6", "'`c5`'", "x", "(a b)", f"(w $(c7) {self.word(0)})", ""
            ),
        )
        return f"{self.one(*_NAMES, 'x', 'a[0]', 'a[$(c8)]', 'PS4', 'IFS', 'LANG')}{self.one('=', '=', '+=')}{value}"

    def simple(self, depth: int) -> str:
        front = f"{self.assignment(depth - 1)} " if self.random.random() < 0.15 else ""
        words = "".join(f" {self.word(depth)}" for _ in range(self.count(3)))
        after = self.redirect(depth) if self.random.random() < 0.2 else ""
        early = f"{self.redirect(depth)} " if self.random.random() < 0.05 else ""
        return f"{front}{early}{self.name()}{words}{after}"

    def redirect(self, depth: int) -> str:
        return self.one(
            " >out", " 2>&1", " &>out", " >>out", f" >{self.word(0)}", " <out", f" <<<{self.word(depth - 1)}",
            f" >out {self.word(depth - 1)}", " 3>&1", " >|out", " 2>out", f" < {self.substitution(0)}", " <>out", " {fd}>out",
        )  # fmt: skip

    def here(self, depth: int) -> str:
        start, end = self.random.choice(
            [("E", "E"), ("'E'", "E"), ('"E"', "E"), ("\\E", "E"), ("-E", "\tE"), ("E-F", "E-F")]
        )
        body = self.one(
            "text", f"a {self.substitution(depth)} b", "`c2`", f"{self.expansion(depth)}", "\\$(c1) \\`c1\\`", "$x ' \" #",
            f"'{self.substitution(depth)}'", "$((x))", "a\\\nE",
        )  # fmt: skip
        then = self.one("", "", f" | {self.command()}", f" && {self.command()}", f"; {self.command()}", " w")
        return f"{self.command()} <<{start}{then}\n{body}\n{end}\n"

    def builtin(self, depth: int) -> str:
        word = self.word(depth)
        return self.one(
            f"echo {word}", f"printf %s {word}", "printf -v x %s '$(c3)'", f"test {word}", f"test -v {word}",
            f"[ {word} ]", f"[ -n {word} ]", f"[ {word} = {self.word(0)} ]", f"[[ {word} ]]", f"[[ -v {word} ]]",
            f"[[ {word} == {self.word(0)} ]]", f"[[ {word} -eq 1 ]]", "[[ $x -eq 0 ]]", f"[[ a =~ {self.one('^a$', '(a|b)', '$x', 'a b')} ]]",
            f"(( {self.number(depth)} ))", f"let {self.one('x', 'x=1', 'x[0]')}", f"eval {word}", "eval \"$x\"", "eval 'c1; c2'",
            f"trap {self.one(chr(39) + 'c4' + chr(39), '$x', 'c5')} EXIT", f"declare {self.one('-i ', '-n ', '-a ', '', '-x ')}x={self.word(0)}",
            f"export x={self.word(0)}", "read x <<< w", f"unset {self.one('x', 'a[0]', chr(39) + 'a[$(c6)]' + chr(39))}",
            f"readonly z={word}", "set -- a b", f"set {self.one('-u', '-f', '-x', '-e', 'w')}", f"cd {self.one('.', '..', '$x')}",
            f": {word}", "shopt -s extglob nullglob", "alias c1=c2", "mapfile -C c7 -c 1 y <<< w", "hash -p /c8 c9",
            f"command {self.command()}", f"builtin eval {word}", f"exec {self.command()}", f"local x={word}", "let 'a[$(c2)]=1'",
            "getopts x y", "wait", "shift", "type c1", "command -v c1", f"time {self.command()}", f"coproc {self.command()}",
        )  # fmt: skip

    def wrapper(self, depth: int) -> str:
        """One of the programs that run others; they are real."""
        made = self.statement(0)
        word = self.word(depth)
        return self.one(
            f"env {self.one('', 'A=1 ', 'LANG=C ', '-i ', '-u x ', '- ', '-C . ', '--unset x ', '--uns x ')}{made}",
            f"timeout {self.one('', '-k 1 ', '-s KILL ', '--sig KILL ', '--signal=KILL ', '$x ')}2 {made}",
            f"nice {self.one('', '-n 5 ', '-5 ', '--adj 5 ', '--adjustment=5 ')}{made}",
            f"nohup {made}",
            f"echo {word} | xargs {self.one('', '-n 1 ', '-I{} ', '-0 ', '-r ', '--max-a 1 ')}{made}",
            f"echo {word} | xargs {self.one('', '-n1 ', '-I{} ', '-IX ')}{self.one('sh -c', 'bash -c X', 'sh -c {}', '{}')}",
            f"find . {self.one('', '-maxdepth 0 ', '-name x -o ')}-exec {made} {self.one('+', chr(92) + ';', '{} +')}",
            f"bash {self.one('-c', '-ec', '-c -e', '-co errexit', '-c +o errexit', '-o errexit -c', '--norc -c')}"
            f" {self.one(chr(39) + 'c1; c2' + chr(39), word, chr(34) + '$x' + chr(34), chr(34) + 'c3 $y' + chr(34))}",
            f"{self.one('sh', 'bash', 'bash -s')} <<< {self.one('c1', word, chr(39) + 'c2; c3' + chr(39))}",
            f"echo {word} | {self.one('sh', 'bash', 'bash -s')}",
            f"env -S {self.one(chr(39) + 'c1 w' + chr(39), word)}",
            f"env {self.one('nice', 'timeout 2', 'nohup', 'command')} {made}",
        )

    def statement(self, depth: int) -> str:
        if depth <= 0:
            return f"{self.command()} {self.word(0)}"
        inner = depth - 1
        return self.either(
            lambda: self.simple(depth),
            lambda: self.simple(depth),
            lambda: self.simple(depth),
            lambda: self.builtin(depth),
            lambda: self.builtin(depth),
            lambda: self.wrapper(depth),
            lambda: self.wrapper(depth),
            lambda: self.assignment(depth),
            lambda: self.assignment(depth),
            lambda: self.here(depth),
            lambda: f"{self.statement(inner)} | {self.statement(inner)}",
            lambda: f"{self.statement(inner)} && {self.statement(inner)}",
            lambda: f"{self.statement(inner)} || {self.statement(inner)}",
            lambda: f"{self.statement(inner)} & {self.statement(inner)}",
            lambda: f"({self.statement(inner)})",
            lambda: f"{{ {self.statement(inner)}; }}",
            lambda: f"! {self.statement(inner)}",
            lambda: (
                f"if {self.statement(inner)}; then {self.statement(inner)}; else {self.statement(inner)}; fi"
            ),
            lambda: (
                f"for {self.one('x', 'i', 'PATH')} in {self.word(inner)} b; do {self.statement(inner)}; done"
            ),
            lambda: f"for ((i=0;i<{self.one('1', 'x')};i++)); do {self.statement(inner)}; done",
            lambda: f"while {self.statement(inner)}; do {self.statement(inner)}; break; done",
            lambda: (
                f"case {self.word(inner)} in w|a*) {self.statement(inner)};; *) {self.statement(inner)};; esac"
            ),
            lambda: f"{self.one('f', 'c1')}() {{ {self.statement(inner)}; }}; f",
            lambda: f"{self.statement(inner)} # {self.word(inner)}",
            lambda: f"{self.statement(inner)} {self.one('2>&1', '>out', '>$(c9)')}",
        )
