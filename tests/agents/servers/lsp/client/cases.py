"""Files with an error, each for a language server that nobody here wrote."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agents.servers.lsp.types import ERROR, Severity
from tests.programs import apt, npm, pypi

Environ = Mapping[str, str]


@dataclass(frozen=True)
class Case:
    """A file with an error in a line (from 0) that goes when `good` takes the place of `bad`."""

    argv: Callable[[Environ], list[str]]
    name: str
    text: str
    bad: str
    good: str
    line: int
    words: str
    severity: Severity = ERROR
    beside: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    modules: bool = False
    """What is installed beside the server is there in the project, too."""


def _npm(package: str, *arguments: str, program: str = "") -> Callable[[Environ], list[str]]:
    return lambda environ: [str(npm(package, program or package, environ)), *arguments]


def _pypi(package: str, *arguments: str) -> Callable[[Environ], list[str]]:
    return lambda environ: [str(pypi(package, package, environ)), *arguments]


def _extracted(name: str) -> Callable[[Environ], list[str]]:
    return _npm("vscode-langservers-extracted", "--stdio", program=f"vscode-{name}-language-server")


def _css(name: str) -> Case:
    return Case(
        _extracted("css"),
        name,
        "a {\n  color red;\n}\n",
        bad="color red",
        good="color: red",
        line=1,
        words="colon expected",
    )


def _python(argv: Callable[[Environ], list[str]], beside: Mapping[str, str] | None = None) -> Case:
    text = 'a: int = "b"\n'
    words = "is not assignable"
    return Case(argv, "a.py", text, bad='"b"', good="1", line=0, words=words, beside=beside or {})


CASES = {
    "json": Case(
        _extracted("json"),
        "a.json",
        '{\n  "a": \n}\n',
        bad='"a": ',
        good='"a": 1',
        line=2,
        words="Value expected",
    ),
    "css": _css("a.css"),
    "css: scss": _css("a.scss"),
    "css: less": _css("a.less"),
    "html": Case(
        _extracted("html"),
        "a.html",
        "<style>\na {\n  color red;\n}\n</style>\n",
        bad="color red",
        good="color: red",
        line=2,
        words="colon expected",
    ),
    "html: script": Case(
        _extracted("html"),
        "a.html",
        "<script>\nlet a = ;\n</script>\n",
        bad="= ;",
        good="= 1;",
        line=1,
        words="Expression expected",
    ),
    "eslint": Case(
        _extracted("eslint"),
        "a.js",
        "var a = b;\n",
        bad="b",
        good="1",
        line=0,
        words="'b' is not defined",
        beside={"eslint.config.js": "module.exports = [{ rules: { 'no-undef': 2 } }];\n"},
        modules=True,
    ),
    "prisma": Case(
        _npm("@prisma/language-server", "--stdio", program="prisma-language-server"),
        "schema.prisma",
        "model A {\n  id Intt @id\n}\n",
        bad="Intt",
        good="Int",
        line=1,
        words='Type "Intt"',
    ),
    "svelte": Case(
        _npm("svelte-language-server", "--stdio", program="svelteserver"),
        "a.svelte",
        "<p>a</p>\n{nope}\n",
        bad="nope",
        good="1",
        line=1,
        words="Cannot find name 'nope'",
        beside={"package.json": "{}", "tsconfig.json": '{"compilerOptions": {"checkJs": true}}'},
    ),
    "biome": Case(
        _npm("@biomejs/biome", "lsp-proxy", program="biome"),
        "a.js",
        "export const a = ;\n",
        bad="= ;",
        good="= 1;",
        line=0,
        words="Expected an expression",
        beside={"biome.json": "{}"},
    ),
    "tailwindcss": Case(
        _npm("@tailwindcss/language-server", "--stdio", program="tailwindcss-language-server"),
        "a.css",
        "@tailwind base;\n@tailwind nope;\n",
        bad="nope",
        good="utilities",
        line=1,
        words="'nope' is not a valid value",
        beside={"tailwind.config.js": "module.exports = { content: ['./*.html'] };\n"},
    ),
    "stylelint": Case(
        _npm("stylelint-lsp", "--stdio"),
        "a.css",
        "a { color: #ggg; }\n",
        bad="ggg",
        good="fff",
        line=0,
        words="invalid hex color",
        beside={".stylelintrc.json": '{"rules": {"color-no-invalid-hex": true}}'},
    ),
    "graphql": Case(
        _npm("graphql-language-service-cli", "server", "-m", "stream", program="graphql-lsp"),
        "a.graphql",
        "query { nope }\n",
        bad="nope",
        good="a",
        line=0,
        words='Cannot query field "nope"',
        beside={
            ".graphqlrc.json": '{"schema": "s.graphqls", "documents": "*.graphql"}',
            "s.graphqls": "type Query { a: Int }\n",
        },
    ),
    "pyright": _python(_npm("pyright", "--stdio", program="pyright-langserver")),
    "pyrefly": _python(_pypi("pyrefly", "lsp"), {"pyrefly.toml": ""}),
    "ty": _python(_pypi("ty", "server")),
    "toml": Case(
        _pypi("tombi", "lsp"),
        "a.toml",
        "a = \n",
        bad="= ",
        good="= 1",
        line=0,
        words="expected value",
    ),
    "php intelephense": Case(
        _npm("intelephense", "--stdio"),
        "a.php",
        "<?php\n$a = ;\n",
        bad="= ;",
        good="= 1;",
        line=1,
        words="Unexpected ';'",
    ),
    "vim": Case(
        _npm("vim-language-server", "--stdio"),
        "a.vim",
        "let a = \n",
        bad="= ",
        good="= 1",
        line=0,
        words="unexpected token",
    ),
    "deno": Case(
        _npm("deno", "lsp"),
        "a.ts",
        'export const a: number = "b";\n',
        bad='"b"',
        good="1",
        line=0,
        words="'string' is not assignable",
        beside={"deno.json": "{}"},
    ),
    "dockerfile": Case(
        _npm("dockerfile-language-server-nodejs", "--stdio", program="docker-langserver"),
        "Dockerfile",
        "FROM a\nRUNN b\n",
        bad="RUNN",
        good="RUN",
        line=1,
        words="Unknown instruction",
    ),
    "buf": Case(
        _npm("@bufbuild/buf", "lsp", "serve", program="buf"),
        "a.proto",
        'syntax = "proto3";\nmessage A {\n  Nope b = 1;\n}\n',
        bad="Nope",
        good="string",
        line=2,
        words="cannot find `Nope`",
        beside={"buf.yaml": "version: v2\nlint:\n  use: [IMPORT_USED]\n"},
    ),
    "postgres": Case(
        _npm("@postgres-language-server/cli", "lsp-proxy", program="postgres-language-server"),
        "a.sql",
        "selec 1;\n",
        bad="selec ",
        good="select ",
        line=0,
        words="syntax error",
        beside={"postgres-language-server.jsonc": "{}"},
    ),
    "rescript": Case(
        _npm("@rescript/language-server", "--stdio", program="rescript-language-server"),
        "a.res",
        "let a = = 1\n",
        bad="= =",
        good="=",
        line=0,
        words="misses an expression",
        beside={"rescript.json": '{"name": "a"}'},
    ),
    "basedpyright": Case(
        lambda environ: [str(pypi("basedpyright", "basedpyright-langserver", environ)), "--stdio"],
        "a.py",
        "def twice(of: int) -> int:\n    return str(of)\n",
        bad="str(of)",
        good="of * 2",
        line=1,
        words='"str" is not assignable to "int"',
    ),
    "ruff": Case(
        lambda _: [str(Path(sys.executable).with_name("ruff")), "server"],
        "a.py",
        "x = 1\nprint(y)\n",
        bad="y",
        good="x",
        line=1,
        words="Undefined name `y`",
    ),
    "typescript": Case(
        _npm("typescript-language-server", "--stdio"),
        "a.ts",
        'export const count: number = "one";\n',
        bad='"one"',
        good="1",
        line=0,
        words="'string' is not assignable",
    ),
    # Without shellcheck it finds nothing by itself but files that cannot be read in.
    "bash": Case(
        _npm("bash-language-server", "start"),
        "a.sh",
        "set -e\n. ./none.sh\n",
        bad="none",
        good="some",
        line=1,
        words="failed to resolve",
        severity=3,
        beside={"some.sh": "true\n"},
        settings={"bashIde": {"enableSourceErrorDiagnostics": True}},
    ),
    "yaml-ls": Case(
        _npm("yaml-language-server", "--stdio"),
        "a.yaml",
        "a: [1\nb: 2\n",
        bad="[1",
        good="[1]",
        line=1,
        words="Flow sequence",
    ),
    "clangd": Case(
        lambda _: [str(apt("clangd"))],
        "a.c",
        "int main(void) {\n  return none;\n}\n",
        bad="none",
        good="0",
        line=1,
        words="undeclared identifier 'none'",
    ),
    "gopls": Case(
        lambda _: [str(apt("gopls"))],
        "a.go",
        "package main\n\nfunc main() {\n\tnone()\n}\n",
        bad="none()",
        good="",
        line=3,
        words="none",
        beside={"go.mod": "module example.org/a\n\ngo 1.19\n"},
    ),
}
