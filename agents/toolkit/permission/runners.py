"""Which commands run what their line does not show: by what they are, or by one of their options. Pure.

"Always" widens only to commands whose options have been looked at (`OPTIONS`, `PLAIN`). An option that runs
another program is asked about by itself, and where something is denied a command that hides what it runs is
allowed by no rule for everything.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from agents.toolkit.permission import commands as known
from agents.toolkit.permission import sed
from agents.toolkit.permission.words import Word


@dataclass(frozen=True, slots=True)
class Options:
    """Options that write or run: by how a word begins, and as a letter among short ones (`-ro file`)."""

    beginnings: tuple[str, ...]
    letters: str = ""

    def in_(self, words: Sequence[str]) -> bool:
        return any(self._is_one(word) for word in words)

    def _is_one(self, word: str) -> bool:
        short = word.startswith("-") and not word.startswith("--")
        return word.startswith(self.beginnings) or (short and any(letter in word for letter in self.letters))


def _options(beginnings: str, letters: str = "") -> Options:
    return Options(tuple(beginnings.split()), letters)


_TRANSPORT: Final = _options("--up --rec --exe --ext ext:: -u -c --config")

# By the beginning, as programs take an option's abbreviation too.
OPTIONS: Final = {
    "apt": _options("-o --o"),
    "apt-get": _options("-o --o"),
    "ar": _options("--plugin"),
    "bat": _options("--pager"),
    "cargo": _options("--config -Z +"),
    "cc": _options("-wrapper -fplugin -B -specs --specs @ -X"),
    "clang": _options("-wrapper -fplugin -B -specs --specs @ -X"),
    "cpio": _options("--rs --to"),
    "file": _options("--com", "C"),
    "g++": _options("-wrapper -fplugin -B -specs --specs @ -X"),
    "gcc": _options("-wrapper -fplugin -B -specs --specs @ -X"),
    "git archive": _options("--ex --re"),
    "git bisect": _options("run"),
    "git cat-file": _options("--te --fi"),
    "git clone": _TRANSPORT,
    "git config": _options(
        "alias. core. diff. filter. merge. credential. include sequence. gpg. ssh -e --ed -f --fi"
    ),
    "git fetch": _options("--up --ext ext::"),
    "git fetch-pack": _TRANSPORT,
    "git grep": _options("--op", "O"),
    "git help": _options("-"),
    "git ls-remote": _options("--up --ex ext::"),
    "git merge": _options("--st", "s"),
    "git pull": _options("--up --st ext::", "s"),
    "git push": _options("--rec --ex ext::"),
    "git rebase": _options("--ex --in --st", "xis"),
    "git send-pack": _TRANSPORT,
    "git submodule": _options("foreach"),
    "go": _options("-toolexec --toolexec -exec --exec -vettool --vettool -overlay --overlay"),
    "less": _options("+ --lesskey -k -o -O"),
    "make": _options("--eval -E -f --file --makefile -I --include"),
    "man": _options("--pag --ht --pr --con", "PHpC"),
    "more": _options("+"),
    "npm": _options(
        "--script-shell --shell --node-options --prefix --git --editor --userconfig --globalconfig -C"
    ),
    "patch": _options("--ge", "g"),
    "pytest": _options("--rootdir --confcutdir --override --pyargs", "pco"),
    "rg": _options("--pre --hostname-bin"),
    "rsync": _options("--rsh --rsy", "e"),
    "scp": _options("--", "SoFJD"),
    "sdiff": _options("--di"),
    "sort": _options("--comp"),
    "split": _options("--fi"),
    "sqlite3": _options("-cmd --cmd -init --init"),
    "tar": _options("--ch --to --us --rs --rm --inf --ne", "IF"),
    "tcpdump": _options("--", "z"),
    "wget": _options("--use-a --ex --conf", "e"),
    "zip": _options("--unzip-c", "T"),
}
"""By command: the options (and words) by which it runs another program, or reads a setting that names one."""

PLAIN: Final = frozenset(
    "[ basename cat cd cmp column comm cp cut date df diff dirname du echo egrep expr false fgrep fold grep"
    " head id jq ln ls md5sum mkdir mv nl od pwd readlink realpath rev ruff seq sha1sum sha256sum sleep stat"
    " strings tail tee test touch tr tree true type uname uniq wc which whoami xxd".split()
) | frozenset(
    "git add;git blame;git branch;git checkout;git commit;git describe;git ls-files;git ls-tree"
    ";git merge-base;git remote;git reset;git restore;git rev-list;git rev-parse;git shortlog;git stash"
    ";git status;git switch;git tag".split(";")
)
"""No option of theirs runs anything."""

_WIDENS: Final = PLAIN | frozenset(
    "cargo;git diff;git fetch;git log;git merge;git pull;git push;git show;go;npm;pytest;rg;sort".split(";")
)

_HIDES: Final = frozenset(
    ". at batch crontab ed emacs ex expect gdb nvim parallel screen script source ssh systemd-run tmux vi"
    " view vim vimdiff watch".split()
)
_ENVIRONMENT: Final = re.compile(r"(?!\.\.)(?:[\w.-]+/)*bin/activate")
"""Of Python, in the project: what is run to work in it."""
_GIT_HIDES: Final = frozenset(
    "daemon difftool filter-branch for-each-repo instaweb mergetool send-email web--browse".split()
)
_GIT_VALUED: Final = frozenset(
    "-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source".split()
)
_GIT_RUNS: Final = ("-c", "--config-env", "--exec-path", "--git-dir", "--work-tree")
_CODE: Final = re.compile(
    r"-\w*[ceEpr].*|-|--(?:eval|print|require|run|command|import|loader).*|<\(.*", re.DOTALL
)
_ASKS_VERSION: Final = frozenset({"--version", "-V", "--help", "-h"})
# In awk: calls, pipes and files. `||` is neither.
_AWK_RUNS: Final = re.compile(r"system|getline|[|>@]|/inet")


def git_command(words: Sequence[Word]) -> Sequence[Word]:
    """The words of git without the options that stand before its subcommand."""
    at = 1
    while at < len(words) and words[at].text.startswith("-"):
        at += 2 if words[at].text in _GIT_VALUED else 1
    return [words[0], *words[at:]]


def looked_at(name: str, words: Sequence[Word]) -> str:
    """The entry of the tables that `words` are about: `tar`, `git log`."""
    return f"git {words[1].text}" if name == "git" and len(words) > 1 else name


def widens(name: str, words: Sequence[Word]) -> bool:
    """Whether "always" may allow the command with any other arguments."""
    return looked_at(name, words) in _WIDENS


def runs_by_option(name: str, words: Sequence[Word]) -> bool:
    """Whether an option makes it run another program; what the shell expands may be such an option."""
    if name == "git":
        front = words[1 : len(words) - len(git_command(words)) + 1]
        if any(word.dynamic or word.text.startswith(_GIT_RUNS) for word in front):
            return True
        words = git_command(words)
    options = OPTIONS.get(looked_at(name, words))
    if name == "sed":
        return not sed.effects(words).understood
    if options is None:
        return False
    rest = list(words[2 if name == "git" else 1 :])
    if name == "pytest":
        rest = _without_plugins(rest)
    if name == "sqlite3" and any(word.text[:1] == "." and not _SHOWS.fullmatch(word.text) for word in rest):
        return True
    if name == "make" and any(_SETS.match(word.text) for word in rest):
        return True
    if name == "tar" and rest and not rest[0].text.startswith("-") and set(rest[0].text) & {"I", "F"}:
        return True
    ended = next((at for at, word in enumerate(rest) if word.text == "--"), len(rest))
    return any(_may_begin_option(word) or options.in_([word.text]) for word in rest[:ended])


_SHOWS: Final = re.compile(
    r"\.(?:tables|schema|indexes|databases|headers|mode|dump|width|help|version)(?: [\w %]*)?"
)
"""Of sqlite3's own commands those that only show."""
_SETS: Final = re.compile(r"(?:SHELL|MAKE\w*|\.SHELLFLAGS)\b|\w+[:?+!]*=(?![\w./,:+-]*$)")
"""What sets a variable of make to more than words."""


def _without_plugins(words: Sequence[Word]) -> list[Word]:
    """Without `-p no:name`, which leaves a plugin out."""
    texts = [word.text for word in words]
    left_out = [
        at for at, text in enumerate(texts) if text.startswith("no:") and texts[at - 1 : at] == ["-p"]
    ]
    gone = {at - back for at in left_out for back in (0, 1)}
    return [word for at, word in enumerate(words) if at not in gone and not word.text.startswith("-pno:")]


def code(name: str, words: Sequence[Word]) -> str | None:
    """The program that is written out in the words, where that is all that is run."""
    if name not in known.INTERPRETERS or name in known.SHELLS or any(word.dynamic for word in words[1:]):
        return None
    texts = [word.text for word in words[1:]]
    at = next((at for at, text in enumerate(texts) if _WRITTEN.fullmatch(text)), None)
    if at is None or any(_LOADS.match(text) for text in texts[:at]):
        return None
    return (
        texts[at].partition("=")[2] if texts[at].startswith("--") else " ".join(texts[at + 1 :][:1]) or None
    )


def reads_code(name: str, words: Sequence[Word]) -> bool:
    """Whether it runs what it is given as its input, and nothing else."""
    rest = [word.text for word in words[1:]]
    return name in known.INTERPRETERS - known.READS_SCRIPT and rest in ([], ["-"]) and not words[0].dynamic


_WRITTEN: Final = re.compile(r"-[a-zA-Z]*[ceE]|--eval=.*|-p", re.DOTALL)
_LOADS: Final = re.compile(r"-\w*[rIMm]|--(?:require|import|loader)")


def hides(name: str, words: Sequence[Word]) -> bool:
    """Whether what it runs cannot be told from its words: it reads a program, or makes one of its input."""
    rest = [word.text for word in words[1:]]
    if name in (".", "source"):
        return not (len(words) > 1 and not words[1].dynamic and _ENVIRONMENT.fullmatch(words[1].text))
    if name in ("node", "bun", "deno") and rest[:1] in (["--test"], ["test"]):
        return runs_code(rest)
    if name in known.SHELLS | known.INTERPRETERS:
        if code(name, words) is not None:
            return False
        return not _runs_file(name, words) and not _ASKS_VERSION.issuperset(rest[:1] or ["-"])
    if name in ("awk", "gawk", "mawk", "nawk"):
        return _awk_hides(words)
    if name == "git":
        return len(words) > 1 and git_command(words)[1:2] != [] and git_command(words)[1].text in _GIT_HIDES
    if name == "xargs":
        return any(
            re.match(r"-\w*[Ii](?!\{\}$)|--replace", text) for text in rest if not text.startswith("-I{}")
        )
    return name in _HIDES or name == "eval"


def _may_begin_option(word: Word) -> bool:
    return word.dynamic and (not word.known or word.known.startswith("-"))


def runs_code(texts: Sequence[str]) -> bool:
    return any(_CODE.fullmatch(text) for text in texts if text.startswith("-"))


def _runs_file(name: str, words: Sequence[Word]) -> bool:
    """An interpreter given a file or a module, or a shell given a script that was read."""
    first = next((word for word in words[1:] if not word.text.startswith("-")), None)
    options = [word.text for word in words[1:] if word.text.startswith("-")]
    if name in known.READS_SCRIPT:
        return first is not None and any(re.match(r"-\w*c", option) for option in options)
    if any(option == "-m" for option in options):
        return True
    return first is not None and not first.dynamic and not any(_CODE.fullmatch(option) for option in options)


def _awk_hides(words: Sequence[Word]) -> bool:
    if any(word.dynamic or re.match(r"-[filE]|--", word.text) for word in words[1:]):
        return True
    programs = [word.text for before, word in pairwise(words) if "-F" not in (before.text, word.text[:2])]
    return any(_AWK_RUNS.search(text.replace("||", "")) for text in programs)
