"""Web Push: the message for a browser, encrypted for it alone (RFC 8291, 8188), and who sends it (RFC 8292).

The keys are of the installation, made of its secret; so who has a copy of the rows alone can send nothing.
"""

from __future__ import annotations

import json
import secrets
import struct
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from functools import cache
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.conf import settings
from django.utils.translation import gettext

from sessions.core.store.notifiers import NotifierRefused

MOST = 3_000
"""Bytes of a message: services take 4096, encrypted."""
TTL = 24 * 3600
"""Seconds for which a service keeps it while the browser is away."""
_GOOD = 12 * 3600
_RECORD = 4096
_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
"""Of the curve P-256 (FIPS 186-4)."""


def check(keys: str) -> None:
    """The keys that a browser gives with its subscription. Raises NotifierRefused."""
    try:
        point, auth = _keys(keys)
        ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
    except (ValueError, KeyError, TypeError) as error:
        raise NotifierRefused(gettext("These are no keys of a browser.")) from error
    if len(auth) != 16:
        raise NotifierRefused(gettext("These are no keys of a browser."))


def _keys(keys: str) -> tuple[bytes, bytes]:
    given = json.loads(keys)
    return decoded(given["p256dh"]), decoded(given["auth"])


def public_key() -> str:
    """What a browser subscribes with: it takes messages of who has the private one alone."""
    return encoded(_point(_installation(settings.SECRET_KEY).public_key()))


def encrypt(
    text: bytes, keys: str, private: ec.EllipticCurvePrivateKey | None = None, salt: bytes | None = None
) -> bytes:
    """For the browser with these keys. The private key and the salt are new for each message."""
    point, auth = _keys(keys)
    private = private or ec.generate_private_key(ec.SECP256R1())
    salt = salt or secrets.token_bytes(16)
    theirs = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
    ours = _point(private.public_key())
    shared = private.exchange(ec.ECDH(), theirs)
    material = _derived(auth, shared, b"WebPush: info\0" + point + ours, 32)
    key = _derived(salt, material, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derived(salt, material, b"Content-Encoding: nonce\0", 12)
    header = salt + struct.pack("!IB", _RECORD, len(ours)) + ours
    return header + AESGCM(key).encrypt(nonce, text[:MOST] + b"\2", None)


def headers(endpoint: str, urgent: bool) -> dict[str, str]:
    """Of the request to the service of a browser."""
    return {
        "content-encoding": "aes128gcm",
        "content-type": "application/octet-stream",
        "ttl": str(TTL),
        "urgency": "high" if urgent else "normal",
        "authorization": f"vapid t={_token(endpoint)}, k={public_key()}",
    }


def _token(endpoint: str) -> str:
    """A JSON Web Token for the origin of the service (RFC 8292 §2), signed by ES256 (RFC 7518 §3.4)."""
    parts = urlsplit(endpoint)
    claims = {
        "aud": f"{parts.scheme}://{parts.netloc}",
        "exp": int(time.time()) + _GOOD,
        "sub": "mailto:opencode-web@localhost.localdomain",
    }
    signed = ".".join(encoded(json.dumps(part).encode()) for part in ({"typ": "JWT", "alg": "ES256"}, claims))
    signature = _installation(settings.SECRET_KEY).sign(signed.encode(), ec.ECDSA(SHA256()))
    r, s = decode_dss_signature(signature)
    return f"{signed}.{encoded(r.to_bytes(32) + s.to_bytes(32))}"


@cache
def _installation(secret: str) -> ec.EllipticCurvePrivateKey:
    """As FIPS 186-4 B.4.1 makes one of more random bits than it has."""
    made = HKDF(SHA256(), 48, salt=None, info=b"opencode-web push").derive(secret.encode())
    return ec.derive_private_key(int.from_bytes(made) % (_ORDER - 1) + 1, ec.SECP256R1())


def _derived(salt: bytes, material: bytes, info: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length, salt=salt, info=info).derive(material)


def _point(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def encoded(raw: bytes) -> str:
    """base64url without padding (RFC 7515 §2)."""
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def decoded(text: str) -> bytes:
    """Raises ValueError."""
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
