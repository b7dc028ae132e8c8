"""The document in which diagrams are drawn runs two scripts, and reaches nothing."""

from __future__ import annotations

import base64
import hashlib
import re

from django.test import AsyncClient

from sessions.rendering.blocks import render_whole


async def test_it_runs_its_own_scripts_alone_and_without_an_origin(async_client: AsyncClient) -> None:
    answer = await async_client.get("/diagrams")
    policy = answer["Content-Security-Policy"]
    scripts = re.findall(r"<script>(.*?)</script>", answer.content.decode(), re.DOTALL)
    assert len(scripts) == answer.content.count(b"<script") == answer.content.count(b"</script") == 2
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    assert f"script-src 'sha256-{hashes[0]}' 'sha256-{hashes[1]}';" in policy
    assert policy.startswith("sandbox allow-scripts; default-src 'none';")
    assert "frame-ancestors 'self'" in policy
    assert "immutable" in answer["Cache-Control"]


def test_a_block_of_its_language_is_marked() -> None:
    assert render_whole("```mermaid\ngraph TD\n```").startswith('<div class="code diagram">')
    assert render_whole("```python\nx\n```").startswith('<div class="code">')
