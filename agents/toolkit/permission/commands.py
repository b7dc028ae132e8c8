"""What is known about commands, as data: which run others, which take paths, what "always" would allow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Wrapper:
    """A command that runs the command in its arguments.

    `valued` are the options that take the next word; `operands` is how many words come before the inner
    command; `assignments` says that NAME=value words may come first.
    """

    valued: frozenset[str] = frozenset()
    operands: int = 0
    assignments: bool = False


def _wrapper(valued: str = "", operands: int = 0, *, assignments: bool = False) -> Wrapper:
    return Wrapper(frozenset(valued.split()), operands, assignments)


_SUDO = (
    "-C -D -g -h -p -R -r -T -t -U -u --chdir --chroot --close-from --command-timeout --group --host"
    " --other-user --prompt --role --type --user"
)

WRAPPERS: Final = {
    "builtin": _wrapper(),
    "busybox": _wrapper(),
    "chroot": _wrapper("", 1),
    "chrt": _wrapper("-T -P -D", 1),
    "command": _wrapper(),
    "coproc": _wrapper(),
    "doas": _wrapper("-C -u"),
    "env": _wrapper("-C -u --chdir --unset", assignments=True),
    "exec": _wrapper("-a"),
    "flock": _wrapper("-E -w --conflict-exit-code --timeout", 1),
    "ionice": _wrapper("-c -n -p -P -u --class --classdata"),
    "nice": _wrapper("-n --adjustment"),
    "nohup": _wrapper(),
    "parallel": _wrapper("-j -I -a -n -N -L --jobs --arg-file"),
    "setsid": _wrapper(),
    "stdbuf": _wrapper("-e -i -o --error --input --output"),
    "strace": _wrapper("-a -b -e -E -I -o -O -p -P -s -S -u -X"),
    "sudo": _wrapper(_SUDO, assignments=True),
    "taskset": _wrapper("", 1),
    "time": _wrapper("-f -o --format --output"),
    "timeout": _wrapper("-k -s --kill-after --signal", 1),
    "unshare": _wrapper("-R -S -G -w --root --setuid --setgid --wd"),
    "watch": _wrapper("-n -q -s --interval --equexit --shotsdir"),
    "xargs": _wrapper(
        "-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-lines --max-procs --max-chars"
        " --process-slot-var"
    ),
}

SHELLS: Final = frozenset("ash bash dash fish ksh sh zsh".split())
READS_SCRIPT: Final = SHELLS | {".", "source"}
"""They run what they are given as input."""

WRAPPER_FLAGS: Final = frozenset(
    "-- --background --foreground --help --ignore-environment --no-run-if-empty --non-interactive --null"
    " --portability --preserve-env --preserve-status --verbose --version".split()
)
"""Long options of wrappers that take no word; another one may be short for one that does."""

SCRIPT_OPTIONS: Final = {
    **dict.fromkeys(SHELLS, ("-c",)),
    "env": ("-S", "--split-string"),
    "flock": ("-c", "--command"),
    "mapfile": ("-C",),
    "readarray": ("-C",),
    "runuser": ("-c", "--command"),
    "script": ("-c", "--command"),
    "su": ("-c", "--command"),
}
"""The option whose value is a shell script, by command."""

EVALUATE_ALL: Final = frozenset({"eval", "watch", "parallel"})
"""These join their words into one script."""

FIND_RUNS: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir"})

TWO_WORDS: Final = frozenset(
    "apt apt-get aws az brew bun bundle bunx cargo composer conda deno django-admin dnf docker docker-compose"
    " dotnet gcloud git go gradle helm hg jj just kubectl make mix mvn nix npm npx pdm pip pip3 pipx pnpm"
    " podman poetry rake rustup systemctl svn swift task terraform tox turbo uv uvx yarn".split()
)
THREE_WORDS: Final = frozenset(
    "bun run;cargo run;docker compose;docker container;docker image;docker network;docker volume"
    ";gcloud compute;gh issue;gh pr;gh repo;gh run;git remote;git stash;git worktree;go tool;kubectl config"
    ";npm exec;npm run;pdm run;pnpm dlx;pnpm exec;pnpm run;podman compose;poetry run;rails db;uv pip;uv run"
    ";uv tool;yarn run;yarn workspace".split(";")
)
"""How many words name what a command does; one where nothing is said."""

PATH_COMMANDS: Final = frozenset(
    "awk base64 bat cat chgrp chmod chown cmp comm cp csplit cut diff du egrep fgrep file find gawk grep"
    " gunzip gzip head install jq less ln ls mkdir mkfifo more mv nl od patch pushd readlink realpath rg rm"
    " rmdir rsync scp sed shred sort split stat strings tac tail tar tee touch tree truncate uniq unlink"
    " unzip vi vim nano wc xxd xz zip".split()
)
FIRST_ARGUMENT_IS_PROGRAM: Final = frozenset("awk egrep fgrep gawk grep jq rg sed".split())
INTERPRETERS: Final = SHELLS | frozenset(". bun lua node perl php python python3 ruby source tsx".split())
GIT_WITH_PATHS: Final = frozenset({"apply", "clone", "init", "worktree"})
PATH_OPTIONS: Final = frozenset({"-C", "-O", "-o", "-t"})
READS: Final = INTERPRETERS | frozenset(
    "awk base64 bat cat cmp comm cp csplit cut diff egrep fgrep gawk git grep gunzip gzip head install"
    " jq less ln more mv nl od rg rsync scp sed sort split strings tac tail tar uniq vi vim wc xxd xz"
    " zip".split()
)
"""What they do with the contents of files that they are given."""
WRITES_ALL: Final = frozenset(
    "chgrp chmod chown mkdir mkfifo mv patch rm rmdir shred tee touch truncate unlink unzip".split()
)
WRITES_LAST: Final = frozenset("cp install ln rsync scp".split())
