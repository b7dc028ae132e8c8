"""What a start does without, and what finds it later."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

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


API = """
import sys
import django
django.setup()
import opencode_web.site.{urls}
from django.core.signals import setting_changed
from ninja import conf

assert "jinja2" not in sys.modules
assert conf.setting_changed is setting_changed
from django.test.signals import setting_changed as theirs

assert theirs is setting_changed
"""


@pytest.mark.parametrize("urls", ["api_urls", "api_v2_urls"])
def test_the_api_needs_no_tools_for_tests(urls: str) -> None:
    code = API.format(urls=urls)
    environ = {**os.environ, "DJANGO_SETTINGS_MODULE": "opencode_web.settings"}
    said = subprocess.run(
        [sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=False
    )
    assert said.returncode == 0, said.stderr
