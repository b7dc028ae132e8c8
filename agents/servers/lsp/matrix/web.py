"""JavaScript, TypeScript and what a browser reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agents.servers.lsp.matrix.row import NODE_LOCKS, TSDK, TSSERVER, Row, npm
from sessions.core.sentences import Sentence

_SCRIPT = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts")
_COMPONENTS = (".vue", ".svelte", ".astro")
_MANIFESTS = ("tsconfig.json", "jsconfig.json", "package.json")
_PROJECT = (NODE_LOCKS, _MANIFESTS)
_DENO = ("deno.json", "deno.jsonc")
_TYPESCRIPT = "typescript@5.9"
"""The last line of versions with the `tsserver.js` that these servers talk to."""
_EXTRACTED = npm("vscode-langservers-extracted")
_VALIDATE: Mapping[str, Any] = {"validate": True}
"""Where it has no settings of a language at all, it fails and finds nothing."""
_ESLINT = (
    "eslint.config.js eslint.config.mjs eslint.config.cjs eslint.config.ts eslint.config.mts "
    ".eslintrc .eslintrc.js .eslintrc.cjs .eslintrc.json .eslintrc.yaml .eslintrc.yml"
).split()
_ESLINT_SETTINGS: Mapping[str, Any] = {
    "validate": "on",
    "run": "onType",
    "nodePath": None,
    "rulesCustomizations": [],
    "problems": {"shortenToSingleLine": False},
    "experimental": {"useFlatConfig": None},
    "workingDirectory": {"mode": "location"},
    "quiet": False,
    "onIgnoredFiles": "off",
    "format": False,
    "codeAction": {"disableRuleComment": {"enable": False}, "showDocumentation": {"enable": False}},
    "codeActionOnSave": {"mode": "all"},
}
_TAILWIND = tuple(f"tailwind.config.{ending}" for ending in ("js", "cjs", "mjs", "ts"))
_STYLELINT = (
    ".stylelintrc",
    ".stylelintrc.json",
    ".stylelintrc.yml",
    ".stylelintrc.js",
    "stylelint.config.js",
)

ROWS: tuple[Row, ...] = (
    Row(
        "deno",
        "Deno",
        (*_SCRIPT, ".json", ".jsonc"),
        (("deno", "lsp"),),
        npm("deno"),
        (_DENO,),
        fallback=False,
        unless_nearer=(*NODE_LOCKS, "package.json"),
        initialization={"enable": True, "lint": True},
    ),
    Row(
        "typescript",
        "TypeScript and JavaScript",
        _SCRIPT,
        (("typescript-language-server", "--stdio"),),
        npm("typescript-language-server", _TYPESCRIPT),
        _PROJECT,
        unless=_DENO,
        initialization={"tsserver": {"path": TSSERVER}},
    ),
    Row(
        "vue",
        "Vue",
        (".vue",),
        (("vue-language-server", "--stdio"),),
        npm("@vue/language-server@2", _TYPESCRIPT),
        _PROJECT,
        project_code=Sentence("plug-ins of Vue's compiler that tsconfig.json names"),
        initialization={"typescript": {"tsdk": TSDK}, "vue": {"hybridMode": False}},
    ),
    Row(
        "svelte",
        "Svelte",
        (".svelte",),
        (("svelteserver", "--stdio"),),
        npm("svelte-language-server", _TYPESCRIPT),
        _PROJECT,
        project_code="svelte.config.js",
    ),
    Row(
        "astro",
        "Astro",
        (".astro",),
        (("astro-ls", "--stdio"),),
        npm("@astrojs/language-server", _TYPESCRIPT),
        _PROJECT,
        project_code=Sentence("the project's packages that Astro loads"),
        initialization={"typescript": {"tsdk": TSDK}},
    ),
    Row(
        "eslint",
        "ESLint",
        (*_SCRIPT, *_COMPONENTS),
        (("vscode-eslint-language-server", "--stdio"),),
        _EXTRACTED,
        (tuple(_ESLINT),),
        fallback=False,
        project_code=Sentence("ESLint with its configuration and plug-ins"),
        initialization=_ESLINT_SETTINGS,
    ),
    Row(
        "biome",
        "Biome",
        (*_SCRIPT, *_COMPONENTS, ".json", ".jsonc", ".css", ".graphql", ".gql", ".html"),
        (("biome", "lsp-proxy"),),
        npm("@biomejs/biome"),
        (("biome.json", "biome.jsonc"),),
        fallback=False,
    ),
    Row(
        "oxlint",
        "Oxlint",
        (*_SCRIPT, *_COMPONENTS),
        (("oxlint", "--lsp"), ("oxc_language_server",)),
        npm("oxlint"),
        ((".oxlintrc.json", "oxlint.config.ts"),),
        fallback=False,
        project_code=Sentence("Oxlint's configuration and plug-ins"),
    ),
    Row(
        "html",
        "HTML",
        (".html", ".htm"),
        (("vscode-html-language-server", "--stdio"),),
        _EXTRACTED,
        initialization={"html": {"validate": {"styles": True, "scripts": True}}, "css": _VALIDATE},
    ),
    Row(
        "css",
        "CSS",
        (".css", ".scss", ".less"),
        (("vscode-css-language-server", "--stdio"),),
        _EXTRACTED,
        initialization=dict.fromkeys(("css", "scss", "less"), _VALIDATE),
    ),
    Row(
        "json",
        "JSON",
        (".json", ".jsonc"),
        (("vscode-json-language-server", "--stdio"),),
        _EXTRACTED,
        unless=_DENO,
        initialization={"json": {"validate": {"enable": True}}},
    ),
    Row(
        "tailwindcss",
        "Tailwind CSS",
        (*_SCRIPT, *_COMPONENTS, ".html", ".css", ".scss"),
        (("tailwindcss-language-server", "--stdio"),),
        npm("@tailwindcss/language-server"),
        (_TAILWIND,),
        fallback=False,
        project_code="tailwind.config",
    ),
    Row(
        "stylelint",
        "Stylelint",
        (".css", ".scss", ".less"),
        (("stylelint-lsp", "--stdio"),),
        npm("stylelint-lsp"),
        (_STYLELINT,),
        fallback=False,
        project_code=Sentence("Stylelint with its configuration and plug-ins"),
    ),
    Row(
        "graphql",
        "GraphQL",
        (".graphql", ".gql"),
        (("graphql-lsp", "server", "-m", "stream"),),
        npm("graphql-language-service-cli"),
        ((".graphqlrc.json", ".graphqlrc.yml", ".graphqlrc", "graphql.config.js", "graphql.config.ts"),),
        fallback=False,
        project_code="graphql.config",
    ),
    Row(
        "prisma",
        "Prisma",
        (".prisma",),
        (("prisma-language-server", "--stdio"),),
        npm("@prisma/language-server"),
        (("schema.prisma", "prisma"), ("package.json",)),
        initialization={"prisma": {"enableDiagnostics": True}},
    ),
    Row(
        "elm",
        "Elm",
        (".elm",),
        (("elm-language-server", "--stdio"),),
        npm("@elm-tooling/elm-language-server"),
        (("elm.json",),),
        fallback=False,
    ),
)
