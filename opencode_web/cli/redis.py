"""Is there the Redis that joins several processes to one server?"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

from opencode_web.cli.stop import Stop

TIMEOUT = 5.0
"""Seconds."""


def check_redis(environ: Mapping[str, str], *, needed_by: str = "") -> None:
    """Raise Stop when the Redis of REDIS_URL cannot be used, or something needs one and none is named."""
    url = environ.get("REDIS_URL", "")
    if url:
        _ping(url)
    elif needed_by:
        raise Stop(
            f"{needed_by} needs a Redis, through which the processes hear of one another: "
            f"set REDIS_URL, as in REDIS_URL=redis://127.0.0.1:6379, the same for all of them",
            2,
        )


def _ping(url: str) -> None:
    if find_spec("channels_redis") is None:
        raise Stop("REDIS_URL is set, but its packages are missing: pip install 'opencode-web[redis]'", 2)
    from redis import Redis, RedisError

    try:
        with Redis.from_url(url, socket_timeout=TIMEOUT, socket_connect_timeout=TIMEOUT) as client:
            client.ping()
    except ValueError as error:
        raise Stop(f"REDIS_URL is no address of a Redis: {error}", 2) from error
    except RedisError as error:
        raise Stop(f"the Redis of REDIS_URL cannot be used: {error}") from error
