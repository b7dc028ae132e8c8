"""Where states of projects are parked: a folder that all nodes have, or a bucket that speaks as S3 does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from obstore.store import ObjectStore

_SECONDS = 60
_PATIENCE: Any = {"max_retries": 3, "retry_timeout": timedelta(seconds=15)}
_CLIENT: Any = {"connect_timeout": "5s", "timeout": f"{_SECONDS}s", "allow_http": True}
"""A server of one's own network may have no TLS; one that is named by `https://` is asked with it."""


class Unavailable(Exception):
    """The place does not answer, is full, or lacks what is asked for; the text is for people."""


class Place:
    """All of it blocks, and raises Unavailable."""

    def __init__(self, address: str) -> None:
        """`address` is as `team.park` gives it."""
        self.address = address
        self._store = _opened(address)

    def put(self, key: str, content: bytes | Path) -> None:
        with self._asked() as store:
            store.put(key, content)

    def get(self, key: str) -> bytes:
        with self._asked() as store:
            return bytes(store.get(key).bytes())

    def fetch(self, key: str, target: Path) -> None:
        """Into a file."""
        with self._asked() as store, target.open("wb") as file:
            for piece in store.get(key):
                file.write(piece)

    def names(self, prefix: str) -> list[str]:
        """The keys below a folder, in order."""
        with self._asked() as store:
            return sorted(entry["path"] for page in store.list(prefix) for entry in page)

    def remove(self, keys: Iterable[str]) -> None:
        with self._asked() as store:
            store.delete(list(keys))

    @contextmanager
    def _asked(self) -> Iterator[ObjectStore]:
        from obstore.exceptions import BaseError

        try:
            yield self._store
        except (BaseError, OSError) as error:
            raise Unavailable(f"{self.address}: {_first_line(error)}") from error


def _opened(address: str) -> ObjectStore:
    from obstore.store import LocalStore, S3Store

    parts = urlsplit(address)
    if parts.scheme == "file":
        return LocalStore(Path(unquote(parts.path)), mkdir=True)
    return S3Store.from_url(address, client_options=_CLIENT, retry_config=_PATIENCE)


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:300]
