"""Languages of the JVM, of .NET, of the BEAM, functional ones, and others with a runtime of their own."""

from __future__ import annotations

from agents.servers.lsp.matrix.row import Row, npm
from sessions.core.sentences import Sentence

_GRADLE = ("settings.gradle", "settings.gradle.kts")
_DOTNET = ("*.slnx", "*.sln")
_MSBUILD = Sentence("the build that MSBuild files describe")

ROWS: tuple[Row, ...] = (
    Row(
        "jdtls",
        "Java",
        (".java",),
        (("jdtls",),),
        "brew install jdtls, or its milestones at eclipse.org",
        (_GRADLE, ("pom.xml", "build.gradle", "build.gradle.kts", ".project", ".classpath")),
        project_code=Sentence("the Gradle or Maven build"),
    ),
    Row(
        "kotlin-ls",
        "Kotlin",
        (".kt", ".kts"),
        (("kotlin-lsp", "--stdio"), ("kotlin-language-server",)),
        "brew install kotlin-lsp, or its releases",
        (_GRADLE, ("build.gradle.kts", "build.gradle", "pom.xml", "gradlew")),
        project_code=Sentence("the Gradle or Maven build"),
    ),
    Row(
        "metals",
        "Scala",
        (".scala", ".sc", ".sbt"),
        (("metals",),),
        "cs install metals",
        (("build.sbt", "build.sc", "build.mill"), ("pom.xml",)),
        project_code=Sentence("the sbt, Mill or Maven build"),
    ),
    Row(
        "clojure-lsp",
        "Clojure",
        (".clj", ".cljs", ".cljc", ".edn"),
        (("clojure-lsp", "listen"),),
        "brew install clojure-lsp/brew/clojure-lsp-native, or its releases",
        (("deps.edn", "project.clj", "shadow-cljs.edn", "bb.edn", "build.boot"),),
        project_code=Sentence("the build, to see its class path"),
    ),
    Row(
        "csharp",
        "C#",
        (".cs", ".csx"),
        (("csharp-ls",), ("omnisharp", "-lsp")),
        "dotnet tool install --global csharp-ls",
        (_DOTNET, ("*.csproj", "global.json")),
        project_code=_MSBUILD,
    ),
    Row(
        "fsharp",
        "F#",
        (".fs", ".fsi", ".fsx", ".fsscript"),
        (("fsautocomplete",),),
        "dotnet tool install --global fsautocomplete",
        (_DOTNET, ("*.fsproj", "global.json")),
        project_code=_MSBUILD,
    ),
    Row(
        "elixir-ls",
        "Elixir",
        (".ex", ".exs", ".heex"),
        (("elixir-ls",), ("language_server.sh",), ("expert", "--stdio")),
        "brew install elixir-ls, or its releases",
        (("mix.lock",), ("mix.exs",)),
        project_code=Sentence("mix.exs and the project's macros"),
    ),
    Row(
        "erlang",
        "Erlang",
        (".erl", ".hrl"),
        (("elp", "server"), ("erlang_ls",)),
        "the releases of the Erlang Language Platform",
        (("rebar.config", "erlang.mk"),),
        project_code=Sentence("the rebar3 build"),
    ),
    Row("gleam", "Gleam", (".gleam",), (("gleam", "lsp"),), "it comes with Gleam", (("gleam.toml",),)),
    Row(
        "dart",
        "Dart",
        (".dart",),
        (("dart", "language-server", "--lsp"),),
        "it comes with the Dart SDK",
        (("pubspec.yaml", "analysis_options.yaml"),),
        project_code=Sentence("plug-ins of the analyzer that analysis_options.yaml names"),
    ),
    Row(
        "haskell-language-server",
        "Haskell",
        (".hs", ".lhs"),
        (("haskell-language-server-wrapper", "--lsp"), ("haskell-language-server", "--lsp")),
        "ghcup install hls",
        (("cabal.project", "stack.yaml", "hie.yaml"), ("*.cabal", "package.yaml")),
        project_code=Sentence("the Cabal or Stack build and Template Haskell"),
    ),
    Row(
        "ocaml-lsp",
        "OCaml",
        (".ml", ".mli"),
        (("ocamllsp",),),
        "opam install ocaml-lsp-server",
        (("dune-workspace",), ("dune-project", ".merlin", "opam")),
        project_code=Sentence("the Dune build and preprocessors"),
    ),
    Row(
        "purescript",
        "PureScript",
        (".purs",),
        (("purescript-language-server", "--stdio"),),
        npm("purescript-language-server"),
        (("spago.yaml", "spago.dhall", "bower.json"),),
        fallback=False,
        project_code=Sentence("the Spago build"),
    ),
    Row(
        "rescript",
        "ReScript",
        (".res", ".resi"),
        (("rescript-language-server", "--stdio"),),
        npm("@rescript/language-server"),
        (("rescript.json", "bsconfig.json"),),
        fallback=False,
        project_code=Sentence("the project's own ReScript compiler"),
    ),
)
