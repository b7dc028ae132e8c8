"""Whose certificates are trusted on every way out: the system's store, or what the environment names."""

from __future__ import annotations

import os
import ssl
import sys
from functools import cache

FILE, FOLDER = "SSL_CERT_FILE", "SSL_CERT_DIR"
_STORES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
"""Where systems keep their authorities: a Python that was built elsewhere looks for them elsewhere."""


def context() -> ssl.SSLContext:
    """Trusts the authorities of `SSL_CERT_FILE` or `SSL_CERT_DIR` alone where one is set, else those of the
    system and, as a container may have none, those that browsers come with. Raises OSError for a file that
    is not there or holds no certificate."""
    return _context(os.environ.get(FILE, ""), os.environ.get(FOLDER, ""))


def in_words() -> str:
    """Which of them are in force, for people."""
    named = [f"{name}={os.environ[name]}" for name in (FILE, FOLDER) if os.environ.get(name)]
    return ", ".join(named) or "those of this system"


@cache
def _context(file: str, folder: str) -> ssl.SSLContext:
    if file or folder:
        return ssl.create_default_context(cafile=file or None, capath=folder or None)
    import certifi  # 60 ms: not before the first request
    import truststore

    # Elsewhere truststore would read the system's file again at every handshake, and keep it.
    ask_the_system = sys.platform in ("darwin", "win32")
    made = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if ask_the_system else ssl.create_default_context()
    for place in (*(() if ask_the_system else filter(os.path.isfile, _STORES)), certifi.where()):
        made.load_verify_locations(place)
    return made
