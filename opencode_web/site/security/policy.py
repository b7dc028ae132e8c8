"""Everything the guard decides by, put together once at the start."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from opencode_web import team
from opencode_web.site.security.hosts import allowed_hosts
from opencode_web.site.security.origins import cors_origins, own_origins
from sessions.core import variables


@dataclass(frozen=True, slots=True)
class Policy:
    """`hosts`, `origins` and `cors` are exact header values; `key` signs cookies and CSRF tokens;
    `guessable` says that a person chose the password; `trusted_proxies` are the addresses whose X-Forwarded-*
    headers count; `base` is the path below which the server is, as in `team.base_path`;
    `metrics_token` opens `/metrics`, where it is not empty, and with `team_key` a front says who asks;
    `person_header` is the header (small letters) in which a trusted proxy does."""

    port: int
    hosts: frozenset[bytes]
    origins: frozenset[bytes]
    cors: frozenset[bytes]
    username: str
    password: str = field(repr=False)
    key: str = field(repr=False)
    guessable: bool = True
    trusted_proxies: frozenset[str] = frozenset()
    base: str = ""
    metrics_token: str = field(default="", repr=False)
    team_key: str = field(default="", repr=False)
    person_header: bytes = b""


def policy_for(
    hostname: str, port: int, secret: str, environ: Mapping[str, str], cors: Iterable[str] = ()
) -> Policy:
    """The policy of a server bound to `hostname` and `port`.

    From the environment: OPENCODE_SERVER_USERNAME (`opencode`), OPENCODE_SERVER_PASSWORD (the secret),
    OPENCODE_WEB_ALLOWED_HOSTS and OPENCODE_WEB_TRUSTED_PROXY (both separated by commas),
    OPENCODE_WEB_BASE_PATH, OPENCODE_WEB_METRICS_TOKEN and OPENCODE_WEB_PERSON_HEADER. Raise ValueError for a
    host or origin that is not exact, and ImproperlyConfigured for a path that is none.
    """
    password = variables.PASSWORD.read(environ) or secret
    extra = _names(variables.ALLOWED_HOSTS.read(environ))
    hosts = allowed_hosts(hostname, port, extra)
    return Policy(
        port=port,
        hosts=hosts,
        origins=own_origins(hosts, extra),
        cors=cors_origins(cors),
        username=variables.USERNAME.read(environ),
        password=password,
        # A new password ends the browser sessions that the old one began.
        guessable=password != secret,
        key=sha256(f"{secret}\0{password}".encode()).hexdigest(),
        trusted_proxies=frozenset(_names(variables.TRUSTED_PROXY.read(environ))),
        base=team.base_path(environ),
        metrics_token=variables.METRICS_TOKEN.read(environ),
        team_key=sha256(f"team\0{secret}".encode()).hexdigest() if team.schema(environ) else "",
        person_header=variables.PERSON_HEADER.read(environ).lower().encode(),
    )


def _names(value: str) -> list[str]:
    return [name.strip() for name in value.split(",") if name.strip()]
