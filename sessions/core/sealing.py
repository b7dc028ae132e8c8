"""Texts that are in rows encrypted: who has a copy of the database alone cannot read them."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from functools import cache
from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from cryptography.fernet import Fernet


class Unreadable(ValueError):
    """It was sealed with another secret."""


def seal(text: str) -> str:
    """With the secret of the installation, by Fernet."""
    return _fernet(settings.SECRET_KEY).encrypt(text.encode()).decode("ascii")


def unseal(sealed: str) -> str:
    """Raises Unreadable."""
    from cryptography.fernet import InvalidToken

    try:
        return _fernet(settings.SECRET_KEY).decrypt(sealed.encode()).decode()
    except InvalidToken as error:
        raise Unreadable("this was sealed with another secret") from error


@cache
def _fernet(secret: str) -> Fernet:
    """Its key is of the secret and for this alone (RFC 5869)."""
    from cryptography.fernet import Fernet  # 7 MB: not before the first secret
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    made = HKDF(SHA256(), 32, salt=None, info=b"opencode-web rows").derive(secret.encode())
    return Fernet(urlsafe_b64encode(made))
