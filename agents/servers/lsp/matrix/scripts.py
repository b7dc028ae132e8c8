"""Languages that are run as they are written."""

from __future__ import annotations

from agents.servers.lsp.matrix.row import Row, npm, pypi
from sessions.core.sentences import Sentence

_PYTHON = (".py", ".pyi")
_PROJECT = ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile", "pyrightconfig.json")
_VENV = (".venv/bin", "venv/bin")
_INTERPRETER = Sentence("the project's own Python interpreter")
_RUBY = (".rb", ".rake", ".gemspec", ".ru", "Gemfile", "Rakefile")
_BUNDLE = Sentence("the Gemfile and the gems it names")

ROWS: tuple[Row, ...] = (
    Row(
        "basedpyright",
        "Python (basedpyright)",
        _PYTHON,
        (("basedpyright-langserver", "--stdio"),),
        pypi("basedpyright"),
        (_PROJECT,),
        choice="python types",
        project_code=_INTERPRETER,
        code_in=_VENV,
    ),
    Row(
        "pyright",
        "Python (pyright)",
        _PYTHON,
        (("pyright-langserver", "--stdio"),),
        npm("pyright"),
        (_PROJECT,),
        choice="python types",
        project_code=_INTERPRETER,
        code_in=_VENV,
    ),
    Row(
        "pyrefly",
        "Python (Pyrefly)",
        _PYTHON,
        (("pyrefly", "lsp"),),
        pypi("pyrefly"),
        (("pyrefly.toml", *_PROJECT),),
        choice="python types",
        project_code=_INTERPRETER,
        code_in=_VENV,
    ),
    Row(
        "ty",
        "Python (ty)",
        _PYTHON,
        (("ty", "server"),),
        pypi("ty"),
        (("ty.toml", *_PROJECT),),
        choice="python types",
    ),
    Row(
        "ruff",
        "Python (Ruff)",
        _PYTHON,
        (("ruff", "server"),),
        pypi("ruff"),
        (("ruff.toml", ".ruff.toml", *_PROJECT),),
    ),
    Row(
        "ruby-lsp",
        "Ruby",
        _RUBY,
        (("ruby-lsp",),),
        "gem install ruby-lsp",
        (("Gemfile",),),
        choice="ruby",
        project_code=_BUNDLE,
    ),
    Row(
        "solargraph",
        "Ruby (Solargraph)",
        _RUBY,
        (("solargraph", "stdio"),),
        "gem install solargraph",
        (("Gemfile",),),
        choice="ruby",
        project_code=_BUNDLE,
    ),
    Row(
        "rubocop",
        "Ruby (RuboCop)",
        _RUBY,
        (("rubocop", "--lsp"),),
        "gem install rubocop",
        ((".rubocop.yml",),),
        fallback=False,
        project_code=Sentence("RuboCop's configuration and plug-ins"),
    ),
    Row(
        "php intelephense",
        "PHP",
        (".php",),
        (("intelephense", "--stdio"),),
        npm("intelephense"),
        (("composer.json", "composer.lock", ".php-version"),),
        initialization={"telemetry": {"enabled": False}},
    ),
    Row(
        "lua-ls",
        "Lua",
        (".lua",),
        (("lua-language-server",),),
        "apt install lua-language-server, brew install lua-language-server, or its releases",
        ((".luarc.json", ".luarc.jsonc", ".luacheckrc", ".stylua.toml", "stylua.toml", "selene.toml"),),
    ),
    Row(
        "bash",
        "Shell",
        (".sh", ".bash", ".zsh", ".ksh"),
        (("bash-language-server", "start"),),
        npm("bash-language-server"),
    ),
    Row("vim", "Vim script", (".vim",), (("vim-language-server", "--stdio"),), npm("vim-language-server")),
    Row("fish", "fish", (".fish",), (("fish-lsp", "start"),), npm("fish-lsp")),
    Row(
        "perl",
        "Perl",
        (".pl", ".pm", ".t"),
        (("perlnavigator", "--stdio"),),
        "npm install --global perlnavigator-server",
        project_code=Sentence("BEGIN blocks of Perl files, when it checks them"),
    ),
    Row(
        "r",
        "R",
        (".r", ".rmd"),
        (("R", "--no-echo", "-e", "languageserver::run()"),),
        'install.packages("languageserver") in R',
        (("DESCRIPTION", "renv.lock"),),
        project_code=".Rprofile",
    ),
    Row(
        "julials",
        "Julia",
        (".jl",),
        (("julia", "--startup-file=no", "--history-file=no", "-e", "using LanguageServer; runserver()"),),
        'Pkg.add("LanguageServer") in Julia',
        (("Project.toml", "Manifest.toml"),),
        project_code=Sentence("the project's packages, to see what is in them"),
    ),
    Row(
        "robot",
        "Robot Framework",
        (".robot", ".resource"),
        (("robotcode", "language-server"),),
        pypi("robotcode[languageserver]"),
        (("robot.toml", "pyproject.toml"),),
        project_code=Sentence("the Python libraries that tests import"),
    ),
)
