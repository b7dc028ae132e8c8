"""What a start does without, and what finds it later."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
from opencode_web.site.server import FirstAsked

def missing():
    return {"OpenSSL", "h2", "autobahn"} - sys.modules.keys()


assert missing() == {"OpenSSL", "h2", "autobahn"}

sockets = FirstAsked(None, server="it")
sockets.setProtocolOptions(maxMessagePayloadSize=5)
protocol = sockets.buildProtocol(None)
from daphne.ws_protocol import WebSocketProtocol

assert isinstance(protocol, WebSocketProtocol)
assert protocol.factory.maxMessagePayloadSize == 5
assert missing() == {"OpenSSL", "h2"}
import OpenSSL
"""


def test_a_start_needs_neither_tls_nor_sockets_which_come_with_the_first_one() -> None:
    said = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
