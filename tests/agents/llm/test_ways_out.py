"""Companies: every way out goes by the proxy of the environment, and trusts an authority of one's own."""

from __future__ import annotations

import asyncio
import importlib
import ipaddress
import re
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from agents.llm import tls
from agents.llm.accounts.flows import web
from agents.llm.readers import litellm_reader, openai_chat, transport
from agents.llm.types import Model, ModelError, TextDelta
from agents.servers.mcp.link.remote import HTTP, Remote
from agents.servers.mcp.server import Server
from agents.toolkit.shared.web.search import Service
from tests.agents.llm.asking import events, model, request
from tests.agents.llm.replay import sse

HOST = "api.maker.example"
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
CHAT = sse({"choices": [{"index": 0, "delta": {"content": "Yes."}, "finish_reason": "stop"}]}, "[DONE]")
GEMINI = sse({"candidates": [{"content": {"parts": [{"text": "Yes."}]}, "finishReason": "STOP", "index": 0}]})


def _name(words: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, words)])


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def authority(folder: Path) -> tuple[Path, ssl.SSLContext]:
    """The certificate of an authority made for this test, and a server's context that it vouches for."""
    now = datetime.now(UTC)
    root, leaf = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())

    def signed(builder: x509.CertificateBuilder) -> x509.Certificate:
        whole = builder.issuer_name(_name("Company")).serial_number(x509.random_serial_number())
        whole = whole.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
        return whole.sign(root, hashes.SHA256())

    own = x509.CertificateBuilder().subject_name(_name("Company")).public_key(root.public_key())
    theirs = x509.CertificateBuilder().subject_name(_name(HOST)).public_key(leaf.public_key())
    names = [x509.DNSName(HOST), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    own = own.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    own = own.add_extension(x509.SubjectKeyIdentifier.from_public_key(root.public_key()), critical=False)
    theirs = theirs.add_extension(x509.SubjectAlternativeName(names), critical=False)
    theirs = theirs.add_extension(
        x509.AuthorityKeyIdentifier.from_issuer_public_key(root.public_key()), critical=False
    )
    file, chain = folder / "company.pem", folder / "server.pem"
    file.write_bytes(signed(own).public_bytes(serialization.Encoding.PEM))
    chain.write_bytes(signed(theirs).public_bytes(serialization.Encoding.PEM) + _pem(leaf))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain)
    return file, context


@dataclass
class Network:
    """A maker's server with TLS, and a proxy that alone knows where it is."""

    authority: Path
    answer: bytes = CHAT
    port: int = 0
    asked: list[str] = field(default_factory=list)
    """What the proxy was asked to connect to."""

    async def maker(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = re.search(rb"content-length: (\d+)", head)
            await reader.readexactly(int(length[1]) if length else 0)
            kind = b"text/event-stream" if self.answer.startswith(b"data") else b"application/json"
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\nconnection: close\r\n\r\n" % kind)
            writer.write(self.answer)
            await writer.drain()
        writer.close()

    async def proxy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        method, target, *_ = (await reader.readuntil(b"\r\n\r\n")).decode().split()
        self.asked.append(f"{method} {target}")
        there, back = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await asyncio.gather(_pipe(reader, back), _pipe(there, writer))


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


@pytest_asyncio.fixture
async def network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Network]:
    file, context = authority(tmp_path)
    found = Network(file)
    maker = await asyncio.start_server(found.maker, "127.0.0.1", 0, ssl=context)
    proxy = await asyncio.start_server(found.proxy, "127.0.0.1", 0)
    found.port = maker.sockets[0].getsockname()[1]
    for name in (*PROXIES, *map(str.lower, PROXIES), tls.FILE, tls.FOLDER):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.sockets[0].getsockname()[1]}")
    async with maker, proxy:
        yield found
        await transport.aclose()


def asked(protocol: Any = "openai", **given: Any) -> Model:
    return model(f"https://{HOST}/v1", protocol, api_key="k", **given)


async def by_our_reader(network: Network) -> None:
    assert TextDelta("Yes.") in await events(openai_chat.read, request(asked()))


async def by_litellm(network: Network) -> None:
    network.answer = GEMINI
    vars(litellm_reader._library()).pop("module_level_aclient", None)  # it keeps to one for all it does
    importlib.import_module("litellm.llms.custom_httpx.http_handler")._ssl_context_cache.clear()
    given = await events(litellm_reader.read, request(asked("litellm", api_model="gemini/gemini-2.5-pro")))
    assert TextDelta("Yes.") in given


async def by_sign_in(network: Network) -> None:
    network.answer = b'{"ok": true}'
    assert (await web.ask("POST", f"https://{HOST}/token", form={"a": "b"})).data == {"ok": True}


async def by_search(network: Network) -> None:
    network.answer = b'{"results": [{"title": "A", "url": "https://a.example"}]}'
    assert "a.example" in await Service(f"https://{HOST}/?q={{query}}", "").ask("a", 3)


async def by_mcp(network: Network) -> None:
    network.answer = b"{}"
    server = Server("away", "remote", url=f"https://{HOST}/mcp", oauth=False)
    async with Remote(server, HTTP)._factory() as client:
        assert (await client.post(server.url, json={})).status_code == 200


WAYS = [
    by_our_reader,
    pytest.param(by_litellm, marks=pytest.mark.litellm),
    by_sign_in,
    by_search,
    by_mcp,
]


@pytest.mark.parametrize("go", WAYS)
async def test_by_the_proxy_with_an_authority_of_ones_own(
    network: Network, monkeypatch: pytest.MonkeyPatch, go: Callable[[Network], Awaitable[None]]
) -> None:
    monkeypatch.setenv(tls.FILE, str(network.authority))
    await go(network)
    assert network.asked == [f"CONNECT {HOST}:443"]


@pytest.mark.parametrize("go", WAYS)
async def test_by_an_authority_of_the_system(
    network: Network, monkeypatch: pytest.MonkeyPatch, go: Callable[[Network], Awaitable[None]]
) -> None:
    tls._context.cache_clear()
    monkeypatch.setattr(tls, "_STORES", (str(network.authority),))
    await go(network)
    tls._context.cache_clear()


async def test_an_authority_nobody_named_is_refused_in_words(network: Network) -> None:
    with pytest.raises(ModelError, match="certificate is not trusted"):
        await events(openai_chat.read, request(asked()))


async def test_no_proxy_is_heeded(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", HOST)
    with pytest.raises(ModelError, match="Could not connect"):
        await events(openai_chat.read, request(asked()))
    assert not network.asked


async def test_the_systems_store_counts_where_nothing_is_named(network: Network) -> None:
    assert tls.in_words() == "those of this system"
    assert len(tls.context().get_ca_certs()) > 50
