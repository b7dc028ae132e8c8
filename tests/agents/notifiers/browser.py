"""The other end of Web Push: a browser's keys, and how it reads what came (RFC 8291 §3, RFC 8188 §2)."""

from __future__ import annotations

import json
import os

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from agents.notifiers.push import encoded


class Browser:
    """`keys` are what its subscription says."""

    def __init__(self) -> None:
        self._private = ec.generate_private_key(ec.SECP256R1())
        self._auth = os.urandom(16)
        self.point = self._private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    @property
    def keys(self) -> str:
        return json.dumps({"p256dh": encoded(self.point), "auth": encoded(self._auth)})

    def read(self, body: bytes) -> bytes:
        """Raises InvalidTag for what was not encrypted for it."""
        salt, length = body[:16], body[20]
        theirs, text = body[21 : 21 + length], body[21 + length :]
        shared = self._private.exchange(
            ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), theirs)
        )

        def derived(salt: bytes, material: bytes, info: bytes, size: int) -> bytes:
            return HKDF(SHA256(), size, salt=salt, info=info).derive(material)

        material = derived(self._auth, shared, b"WebPush: info\0" + self.point + theirs, 32)
        key = derived(salt, material, b"Content-Encoding: aes128gcm\0", 16)
        nonce = derived(salt, material, b"Content-Encoding: nonce\0", 12)
        padded = AESGCM(key).decrypt(nonce, text, None).rstrip(b"\0")
        assert padded[-1:] == b"\2", "the last record"
        return padded[:-1]
