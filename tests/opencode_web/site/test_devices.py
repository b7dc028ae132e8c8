"""A device is let in by a code, once, and out again; what is said of where the server is reached is so."""

from __future__ import annotations

import asyncio
import json
import re
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from html import unescape
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from opencode_web.site import qr
from opencode_web.site.server import find_port
from tests.opencode_web.site.security.browser import Browser, browsing, closed
from tests.runtime.conftest import home, project
from tests.server import Server

__all__ = ["home", "project"]
PHONE = {"User-Agent": "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36"}
HTML = {"Accept": "text/html"}
NAME = "127.0.0.2"
"""Of this machine too, and not one of those that the server is known by anyway."""


@pytest.fixture
def server(home: Path, project: Path) -> Server:
    return Server(home, project)


@asynccontextmanager
async def started(server: Server) -> AsyncIterator[Browser]:
    await asyncio.to_thread(server.start)
    try:
        async with browsing(server) as browser:
            yield browser
    finally:
        await asyncio.to_thread(server.stop)


async def invited(browser: Browser, name: str = "Phone", base: str = "") -> str:
    """The link that a code has."""
    answer = await browser.change("/settings/devices/add", name=name, base=base or browser.origin)
    assert answer.status_code == 200, answer.text
    found = re.search(r'data-copy="([^"]+)"', answer.text)
    assert found
    return unescape(found[1])


async def test_a_code_lets_a_device_in_once_and_it_is_signed_out_here(server: Server) -> None:
    async with started(server) as browser:
        link = await invited(browser)
        listed = (await browser.get("/settings/devices")).text
        assert "None was let in" in listed, "it has not come yet"
        async with Browser(base_url=server.url, headers=PHONE, trust_env=False) as phone:
            assert (await phone.get(link)).status_code == 303
            assert (await phone.get("/settings/devices", headers=HTML)).status_code == 200
            async with Browser(base_url=server.url, headers=PHONE, trust_env=False) as thief:
                assert (await thief.get(link)).status_code == 403
            listed = (await browser.get("/settings/devices")).text
            assert "Phone" in listed
            assert "Chrome on Android" in listed
            id = re.search(r'"id": "([^"]+)"', unescape(listed).encode().decode("unicode_escape"))
            assert id
            async with phone.socket("/ws/inbox/") as socket:
                await socket.recv()
                await browser.change("/settings/devices/remove", id=id[1])
                assert await closed(socket) == 4401
            assert (await phone.get("/settings/devices", headers=HTML)).status_code == 303
            assert "None was let in" in (await browser.get("/settings/devices")).text
            assert (await browser.get("/settings/devices", headers=HTML)).status_code == 200


async def test_a_device_that_signs_out_is_listed_no_longer(server: Server) -> None:
    async with started(server) as browser:
        link = await invited(browser)
        async with browsing(server, link) as phone:
            assert "this browser" in (await phone.get("/settings/devices")).text
            await phone.change("/logout")
        assert "None was let in" in (await browser.get("/settings/devices")).text


async def test_a_code_is_for_an_address_of_the_server_alone(server: Server) -> None:
    async with started(server) as browser:
        wrong = {"name": "Phone", "base": "https://evil.example"}
        answer = await browser.change("/settings/devices/add", **wrong)
        assert answer.status_code == 422
        assert "not known by that address" in answer.text
        answer = await browser.change("/settings/devices/add", name=" ", base=browser.origin)
        assert answer.status_code == 422


def test_a_code_is_a_picture_of_its_text() -> None:
    code = qr.code("https://machine.example.org/auth/launch?token=" + "x" * 43)
    assert code.size > 29
    assert code.path.startswith(f"M{qr.BORDER} {qr.BORDER}h1")


# Where it can be reached


async def found(server: Server) -> dict[str, str]:
    done = await asyncio.to_thread(server.command, "remote", "--json")
    assert done.stdout, done.stderr
    return {one["title"]: one["state"] for one in json.loads(done.stdout)}


async def test_one_on_this_machine_alone_has_nothing_open(server: Server) -> None:
    async with started(server) as browser:
        states = await found(server)
        assert set(states.values()) == {"good"}
        assert any(title.startswith("It listens on this machine alone") for title in states)
        assert "It answers to its own names alone." in states
        assert "It asks for a sign-in, on this machine too." in states
        shown = (await browser.get("/settings/devices/reached")).text
        assert "It listens on this machine alone" in shown
        assert (await asyncio.to_thread(server.command, "remote")).returncode == 0
    assert "no server runs" in (await asyncio.to_thread(server.command, "remote")).stderr


def certificate(folder: Path, days: int = 90) -> tuple[Path, ssl.SSLContext]:
    """One that signs itself, for the name, and a server's context with it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, NAME)])
    begun = datetime.now(UTC) - timedelta(days=1)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(begun).not_valid_after(begun + timedelta(days=days))
    names = x509.SubjectAlternativeName([x509.IPAddress(ip_address(NAME))])
    signed = builder.add_extension(names, critical=False).sign(key, SHA256())
    file = folder / "certificate.pem"
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file.write_bytes(signed.public_bytes(Encoding.PEM) + private)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return file, context


@asynccontextmanager
async def proxy(port: int, context: ssl.SSLContext | None, target: list[int]) -> AsyncIterator[None]:
    """What stands before the server, at the name: it passes bytes on."""

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(65536):
            writer.write(piece)
            await writer.drain()
        writer.close()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", target[0])
        async with asyncio.TaskGroup() as group:
            group.create_task(pump(reader, back))
            group.create_task(pump(there, writer))

    async with await asyncio.start_server(connected, NAME, port, ssl=context):
        yield


@pytest.mark.parametrize(
    ("encrypted", "trusted", "title", "state"),
    [
        (True, True, "https://{place} leads here, encrypted.", "good"),
        (True, False, "https://{place} has a certificate that browsers do not take.", "bad"),
        (False, False, "http://{place} leads here from this machine.", "info"),
    ],
)
async def test_a_way_is_judged_by_what_answers_there(
    server: Server, tmp_path: Path, encrypted: bool, trusted: bool, title: str, state: str
) -> None:
    port, target = find_port(NAME, 0), [0]
    file, context = certificate(tmp_path)
    place = f"{NAME}:{port}"
    environ: dict[str, Any] = {"OPENCODE_WEB_ALLOWED_HOSTS": f"{place},nowhere.invalid"}
    server.environ = {**environ, **({"SSL_CERT_FILE": str(file)} if trusted else {})}
    async with started(server), proxy(port, context if encrypted else None, target):
        target[0] = int(server.url.rpartition(":")[2])
        states = await found(server)
    assert states[title.format(place=place)] == state
    assert states["nowhere.invalid does not lead here."] == "info"
    warned = "What stands before it is not named in OPENCODE_WEB_TRUSTED_PROXY." in states
    assert warned is (encrypted and trusted)


async def test_a_proxy_that_signs_everybody_in_is_found(server: Server, tmp_path: Path) -> None:
    port = find_port(NAME, 0)
    place = f"{NAME}:{port}"
    server.environ = {"OPENCODE_WEB_ALLOWED_HOSTS": place}
    async with started(server):
        password = server.environment()["OPENCODE_SERVER_PASSWORD"]

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            method, path, _ = head.split("\r\n")[0].split(" ")
            lines = [line.partition(": ") for line in head.split("\r\n")[1:] if line]
            headers = {name.lower(): value for name, _, value in lines}
            headers["authorization"] = f"Bearer {password}"
            async with httpx.AsyncClient(trust_env=False) as client:
                answer = await client.request(method, server.url + path, headers=headers)
            named = f"x-request-id: {answer.headers['x-request-id']}\r\ncontent-length: 0\r\n"
            writer.write(f"HTTP/1.1 {answer.status_code} x\r\n{named}connection: close\r\n\r\n".encode())
            await writer.drain()
            writer.close()

        async with await asyncio.start_server(connected, NAME, port):
            states = await found(server)
    assert states[f"http://{place} shows pages without our sign-in."] == "bad"


async def test_a_short_password_that_others_may_try_is_said(server: Server) -> None:
    server.environ = {"OPENCODE_SERVER_PASSWORD": "short"}
    async with started(server):
        done = await asyncio.to_thread(server.command, "remote")
    assert "!!  Its password is short." in done.stdout
    assert done.returncode == 1
