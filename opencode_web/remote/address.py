"""Where a server is, and who we are to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from opencode_web.security.hosts import is_loopback

USERNAME = "opencode"


@dataclass(frozen=True, slots=True)
class Address:
    """`url` has no credentials and no slash at its end."""

    url: str
    username: str = USERNAME
    password: str = field(default="", repr=False)

    @property
    def here(self) -> bool:
        """Whether the server is on this machine."""
        return is_loopback(urlsplit(self.url).hostname or "")


def address(url: str, username: str = "", password: str = "") -> Address:
    """The address a user has written; credentials in it come before the others. Raises ValueError."""
    parts = urlsplit(url if "://" in url else f"http://{url}")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
        raise ValueError("the address of a server looks like http://127.0.0.1:4096")
    host = parts.netloc.rpartition("@")[2]
    return Address(
        f"{parts.scheme}://{host}{parts.path.rstrip('/')}",
        unquote(parts.username or "") or username or USERNAME,
        unquote(parts.password or "") or password,
    )
