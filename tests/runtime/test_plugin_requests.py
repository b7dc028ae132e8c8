"""What plugins do to the requests of whole turns: in the other protocol, and for a compaction."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.toolkit.definitions import prompt_text
from tests.loopback.anthropic import AnthropicServer
from tests.loopback.script import Turn
from tests.opencode_web.site.security.browser import browsing
from tests.runtime.test_compaction import READ, SUMMARY, is_compaction, summarize
from tests.runtime.test_plugins import hooks, with_plugins
from tests.runtime.trusting import trust, write
from tests.server import Server, model_config, parts_of, running

PARAMS = """
async def params(input, output):
    output["topK"] = 7
    output["maxOutputTokens"] = 321
    output["options"] |= {"serviceTier": "standard_only", "user": "somebody", "ownField": [1]}

async def headers(input, output):
    output["headers"]["x-agent"] = input["agent"]

async def system(input, output):
    assert len(output["system"]) == 2
    output["system"] += ["third", "fourth"]

return {
    "chat.params": params, "chat.headers": headers, "experimental.chat.system.transform": system,
}
"""


async def test_a_request_of_the_other_protocol_is_shaped(home: Path, project: Path) -> None:
    """Options are written as OpenCode's are, and mean the same to this provider."""
    write(project, {".opencode/plugins/0.py": hooks(PARAMS)})
    script = [Turn(tools=[READ]), Turn(text="Done.")]
    async with AnthropicServer(script) as model:
        config = model_config(model.base_url, "@ai-sdk/anthropic")
        server = Server(home, project, config)
        async with running(server) as client, browsing(server) as browser:
            session = await client.create_session("named")
            await trust(browser, session["projectID"])
            answer = await client.prompt(session["id"], "Read.")
            assert parts_of([answer], "text")[0]["text"] == "Done."
        first, second = model.requests
        assert (first.body["top_k"], first.body["max_tokens"]) == (7, 321)
        assert first.body["service_tier"] == "standard_only"
        assert first.body["metadata"] == {"user_id": "somebody"}
        assert first.body["ownField"] == [1]
        assert not {"serviceTier", "user", "options"} & first.body.keys()
        assert first.headers["x-agent"] == "build"
        assert first.headers["x-api-key"] == "x"
        stable, rest = first.body["system"]
        assert "third" not in stable["text"]
        assert rest["text"].endswith("third\n\nfourth")
        assert [text["cache_control"] for text in (stable, rest)] == [{"type": "ephemeral"}] * 2
        assert second.body["system"] == first.body["system"]


@pytest.mark.parametrize("prompt", [None, "Sum up in verse."])
async def test_a_compaction_is_told_what_a_plugin_wants_kept(
    home: Path, project: Path, prompt: str | None
) -> None:
    body = f"""
async def compacting(input, output):
    output["context"].append("Keep the moon. " + input["sessionID"])
    output["prompt"] = {prompt!r}
return {{"experimental.session.compacting": compacting}}
"""
    script = [Turn(text="One."), Turn(text=SUMMARY)]
    async with with_plugins(home, project, script, hooks(body)) as (client, model, _, _id):
        session = await client.create_session("named")
        await client.prompt(session["id"], "First.")
        assert await summarize(client, session["id"]) is True
        told, asked = (request.body["messages"] for request in model.requests)
        assert is_compaction(model.requests[1].body)
        assert f"Keep the moon. {session['id']}" in asked[-1]["content"]
        assert "Keep the moon." not in str(told)
        assert asked[0]["content"].strip() == (prompt or prompt_text("compaction")).strip()
