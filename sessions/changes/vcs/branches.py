"""The branch of a working tree, and the one that others are compared with."""

from __future__ import annotations

from .checkout import Checkout

_REMOTE = "refs/remotes/origin/"
_LOCAL = "refs/heads/"
_USUAL = ("main", "master")


def current(checkout: Checkout) -> str:
    """The branch that is checked out; empty for none."""
    return checkout.asked("symbolic-ref", "--quiet", "--short", "HEAD")


def default(checkout: Checkout) -> str:
    """What the remote `origin` says, else the usual name that there is; empty for none."""
    named = checkout.asked("symbolic-ref", "--quiet", f"{_REMOTE}HEAD")
    if named.startswith(_REMOTE):
        return named.removeprefix(_REMOTE)
    there = checkout.asked(
        "for-each-ref", "--format=%(refname)", *(f"{_LOCAL}{name}" for name in _USUAL)
    ).split()
    return next((name for name in _USUAL if f"{_LOCAL}{name}" in there), "")


def head(checkout: Checkout) -> str:
    """The last commit; the empty tree where there is none."""
    commit = checkout.asked("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    return commit or checkout.asked("hash-object", "-t", "tree", "--stdin")


def fork_point(checkout: Checkout) -> str:
    """Where this branch left the default one; empty where it is that one, or never did."""
    name = default(checkout)
    if not name or name == current(checkout):
        return ""
    return checkout.asked("merge-base", "HEAD", named(checkout, name))


def named(checkout: Checkout, name: str) -> str:
    """The commit of a branch, here or at the remote `origin`; empty for none."""
    asked = ("rev-parse", "--verify", "--quiet")
    return checkout.asked(*asked, f"{_LOCAL}{name}") or checkout.asked(*asked, f"{_REMOTE}{name}")
