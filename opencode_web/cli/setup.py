"""What a command needs before it begins: a folder to work in, Django with its database, Redis."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import django

from opencode_web.cli.terminal import Stop, complain, plain
from sessions.core import variables
from sessions.core.bus_redis import installation, occupy


def project_directory(name: str) -> Path:
    """The absolute path of an existing, readable folder. Raise Stop (status 2) for anything else."""
    try:
        path = Path(name).expanduser().resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise Stop(f"{name!r} is no usable path: {error}", 2) from error
    if not path.exists():
        raise Stop(f"{path} does not exist", 2)
    if not path.is_dir():
        raise Stop(f"{path} is a file; name the folder it is in", 2)
    if path.parent == path:
        raise Stop(f"{path} is the root of the file system; name the folder of a project", 2)
    if not os.access(path, os.R_OK | os.X_OK):
        raise Stop(f"{path} cannot be read: permission denied", 2)
    return path


def tell_problems(directory: Path | None) -> None:
    """What is wrong with the configuration in force, on standard error: the rest of it counts. What waits for
    trust is a part of it, also code."""
    from agents.config.loader import load  # a third of the start of what looks at no configuration
    from agents.config.trust.code import waiting
    from agents.config.trust.wants import HOW

    for problem in load(directory).problems:
        if problem.level != "note":
            complain(plain(str(problem)))
    for file in waiting(directory) if directory is not None else ():
        complain(f"{plain(str(file.path))}: does not run until you trust it {HOW}")


def prepare_django() -> None:
    """Set Django up and make the database ready. Raise Stop if it cannot be used."""
    from opencode_web.site import database  # likewise

    django.setup()
    try:
        said = database.prepare()
    except database.Unusable as error:
        raise Stop(str(error)) from error
    if said:
        complain(said)


TIMEOUT = 5.0
"""Seconds."""


def check_redis(environ: Mapping[str, str], secret: str, *, needed_by: str = "") -> None:
    """Raise Stop when the Redis of REDIS_URL cannot be used, is that of processes with another secret, or
    something needs one and none is named."""
    url = variables.REDIS_URL.read(environ)
    if url:
        _check(url, secret)
    elif needed_by:
        raise Stop(
            f"{needed_by} needs a Redis, through which the processes hear of one another: "
            f"set REDIS_URL, as in REDIS_URL=redis://127.0.0.1:6379, the same for all of them",
            2,
        )


def _check(url: str, secret: str) -> None:
    if find_spec("channels_redis") is None:
        raise Stop("REDIS_URL is set, but its packages are missing: pip install channels-redis", 2)
    from redis import Redis, RedisError

    try:
        with Redis.from_url(url, socket_timeout=TIMEOUT, socket_connect_timeout=TIMEOUT) as client:
            same = occupy(client, installation(secret))
    except ValueError as error:
        raise Stop(f"REDIS_URL is no address of a Redis: {error}", 2) from error
    except RedisError as error:
        raise Stop(f"the Redis of REDIS_URL cannot be used: {error}") from error
    if not same:
        raise Stop(
            "the Redis of REDIS_URL joins processes that have another secret, of which this one would hear "
            "nothing: give it the same data folder as they have, or another database of that Redis "
            "(redis://host:6379/1)"
        )
