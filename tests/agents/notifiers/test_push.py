"""Web Push: what a browser can read, by the words of the RFCs."""

from __future__ import annotations

import json
import time

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from agents.notifiers import push
from agents.notifiers.push import decoded, encoded
from agents.notifiers.sending import NotSent, send
from sessions.core.store.notifiers import Target
from tests.agents.notifiers.browser import Browser
from tests.agents.notifiers.test_formats import one
from tests.loopback.hooks import HookServer


def test_the_example_of_rfc_8291() -> None:
    """Appendix A, with the keys and the salt that it gives."""
    private = ec.derive_private_key(
        int.from_bytes(decoded("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")), ec.SECP256R1()
    )
    keys = json.dumps(
        {
            "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcx"
            "aOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
            "auth": "BTBZMqHH6r4Tts7J_aSIgg",
        }
    )
    text = b"When I grow up, I want to be a watermelon"
    made = push.encrypt(text, keys, private, decoded("DGv6ra1nlYgDCS1FRnbzlw"))
    assert encoded(made) == (
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27ml"
        "mlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPT"
        "pK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
    )


async def test_a_browser_reads_it_and_its_service_does_not() -> None:
    browser, made = Browser(), one(kind="asks", what="permission", request="per_1")
    async with HookServer() as service:
        await send("push", made, Target(f"{service.url}/push/1", secret=browser.keys))
        got = await service.request()
    shown = json.loads(browser.read(got.body))
    assert shown == {"title": made.title, "text": made.text, "url": made.url, "tag": made.tag}
    assert b"Mend" not in got.body
    assert (got.headers["content-encoding"], got.headers["urgency"]) == ("aes128gcm", "high")
    assert int(got.headers["ttl"]) > 0


async def test_a_service_knows_who_sends() -> None:
    async with HookServer() as service:
        await send("push", one(), Target(f"{service.url}/push/1", secret=Browser().keys))
        got = await service.request()
    scheme, _, rest = got.headers["authorization"].partition(" ")
    fields = dict(part.strip().split("=", 1) for part in rest.split(","))
    head, claims, signature = fields["t"].split(".")
    raw = decoded(signature)
    key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decoded(fields["k"]))
    der = encode_dss_signature(int.from_bytes(raw[:32]), int.from_bytes(raw[32:]))
    key.verify(der, f"{head}.{claims}".encode(), ec.ECDSA(SHA256()))
    said = json.loads(decoded(claims))
    assert (scheme, fields["k"], said["aud"]) == ("vapid", push.public_key(), service.url)
    assert time.time() < said["exp"] <= time.time() + 24 * 3600


async def test_one_that_is_gone_is_gone() -> None:
    async with HookServer() as service:
        service.answers(410)
        with pytest.raises(NotSent) as gone:
            await send("push", one(), Target(f"{service.url}/push/1", secret=Browser().keys))
    assert gone.value.gone


def test_a_message_fits_whatever_it_says() -> None:
    browser = Browser()
    made = push.encrypt(b"x" * 10_000, browser.keys)
    assert len(made) <= 4096
    assert browser.read(made) == b"x" * push.MOST
