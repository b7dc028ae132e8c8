"""Skills in whole turns: the guidance, the tool, what is denied, and skills called by name."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from agents.toolkit.skills import MAX_BYTES
from tests.agents.toolkit.skills.conftest import write_skill
from tests.loopback.script import ToolUse, Turn
from tests.server import parts_of, serving
from tests.skill_site import skill_site

LOAD = Turn(tools=[ToolUse("skill", {"name": "greeting"})])


def system(body: Mapping[str, Any]) -> str:
    """The system messages of a request."""
    return str([message["content"] for message in body["messages"] if message["role"] == "system"])


async def test_a_skill_is_listed_loaded_and_its_files_named(home: Path, project: Path) -> None:
    file = write_skill(project / ".opencode/skills/greeting", "Bow first.")
    (file.parent / "bow.py").touch()
    async with serving(home, project, [LOAD, Turn(text="Done.")]) as (client, model):
        session = await client.create_session(title="named")
        await client.prompt(session["id"], "Greet.")
        first, second = (request.body for request in model.requests)
        assert "- greeting: How to greeting." in system(first)
        assert "Bow first" not in system(first)
        assert str(file) not in system(first)
        result = second["messages"][-1]["content"]
        for expected in ("Bow first.", str(file.parent), "bow.py"):
            assert expected in result
        (part,) = parts_of(await client.messages(session["id"]), "tool")
        assert part["state"]["metadata"]["name"] == "greeting"


async def test_a_skill_at_an_address_is_there_in_the_first_turn(home: Path, project: Path) -> None:
    script = [Turn(tools=[ToolUse("skill", {"name": "greet"})]), Turn(text="Done.")]
    with skill_site() as site:
        async with serving(home, project, script, skills={"urls": [site.url]}) as (client, model):
            session = await client.create_session(title="named")
            await client.prompt(session["id"], "Greet.")
            first, second = (request.body for request in model.requests)
            assert "- greet: Greets." in system(first)
            result = second["messages"][-1]["content"]
            assert "Say hello." in result
            assert "scripts/a b.sh" in result
            assert "greet" in [skill["name"] for skill in await client.get("/skill")]


async def test_a_long_skill_is_bounded_and_a_huge_one_never_read(home: Path, project: Path) -> None:
    skills = project / ".opencode/skills"
    write_skill(skills / "greeting", "first line\n" + "x" * 80 * 1024 + "\nlast line")
    write_skill(skills / "huge", "x" * 10 * MAX_BYTES)
    script = [LOAD, Turn(tools=[ToolUse("skill", {"name": "huge"})]), Turn(text="Done.")]
    async with serving(home, project, script) as (client, model):
        session = await client.create_session(title="named")
        await client.prompt(session["id"], "Greet.")
        long, huge = parts_of(await client.messages(session["id"]), "tool")
        assert len(long["state"]["output"]) < 52 * 1024
        assert "first line" in long["state"]["output"]
        assert Path(long["state"]["metadata"]["outputPath"]).stat().st_size > 80 * 1024
        assert "10.0 MB, the limit is 1 MB" in huge["state"]["error"]
        assert "- huge" not in system(model.requests[0].body)
        assert max(len(str(request.body)) for request in model.requests) < 200 * 1024


async def test_a_denied_skill_is_neither_listed_nor_loaded(home: Path, project: Path) -> None:
    write_skill(project / ".opencode/skills/greeting", "Bow first.")
    write_skill(project / ".opencode/skills/parting", "Wave.")
    script = [LOAD, Turn(tools=[ToolUse("skill", {"name": "gone"})]), Turn(text="Done.")]
    permission = {"*": "allow", "skill": {"greeting": "deny"}}
    async with serving(home, project, script, permission=permission) as (client, model):
        session = await client.create_session(title="named")
        await client.prompt(session["id"], "Greet.")
        assert "- greeting" not in system(model.requests[0].body)
        denied, unknown = parts_of(await client.messages(session["id"]), "tool")
        assert "skill is denied" in denied["state"]["error"]
        assert (
            unknown["state"]["error"] == "There is no skill of this name. There are: opencode-web, parting."
        )


async def test_without_skills_there_is_neither_guidance_nor_the_tool(home: Path, project: Path) -> None:
    permission = {"*": "allow", "skill": {"opencode-web": "deny"}}
    async with serving(home, project, [Turn(text="Done.")], permission=permission) as (client, model):
        session = await client.create_session(title="named")
        await client.prompt(session["id"], "Hello.")
        body = model.requests[0].body
        assert "skill" not in [tool["function"]["name"] for tool in body["tools"]]
        assert "Skills are" not in system(body)


async def test_another_agents_skills_are_told_once_and_the_baseline_stays(home: Path, project: Path) -> None:
    write_skill(project / ".opencode/skills/greeting")
    write_skill(project / ".opencode/skills/parting")
    agent = {"plan": {"permission": {"skill": {"parting": "deny"}}}}
    script = [Turn(text=text) for text in ("One.", "Two.", "Three.", "Four.")]
    async with serving(home, project, script, agent=agent) as (client, model):
        session = (await client.create_session(title="named"))["id"]
        for number, name in enumerate(("build", "plan", "plan", "build")):
            await client.prompt(session, f"Prompt {number}.", agent=name)
        bodies = [request.body["messages"] for request in model.requests]
        assert "- parting:" in str(bodies[0][:2])
        for earlier, later in pairwise(bodies):
            assert earlier[1] == later[1]
        told = [
            str(messages[2:]).count("you can read with the `skill` tool are now these") for messages in bodies
        ]
        assert told == [0, 1, 1, 2]
        assert "- parting:" not in str(bodies[2][2:])


async def test_a_skill_called_by_name_is_a_prompt_and_no_template(home: Path, project: Path) -> None:
    write_skill(project / ".opencode/skills/greeting", "Run !`touch made` with $1 and @hello.py: $ARGUMENTS!")
    async with serving(home, project, [Turn(text="Done.")]) as (client, model):
        session = await client.create_session(title="named")
        await client.post(f"/session/{session['id']}/command", {"command": "greeting", "arguments": "Ann"})
        said = str(model.requests[0].body["messages"][-1]["content"])
        assert "Run !`touch made` with $1 and @hello.py: Ann!" in said
        assert str(project / ".opencode/skills/greeting") in said, "where its files lie"
        assert "return 'hello'" not in said
        assert not (project / "made").exists()


async def test_skills_are_listed_as_opencode_lists_them_and_problems_shown(home: Path, project: Path) -> None:
    file = write_skill(project / ".opencode/skills/greeting", "Bow first.")
    bad = write_skill(project / ".opencode/skills/<b>bad", "Bow.")
    async with serving(home, project, [Turn(text="Done.")]) as (client, _):
        greeting, ours = await client.get("/skill")
        assert greeting == {
            "name": "greeting",
            "description": "How to greeting.",
            "location": str(file),
            "content": "Bow first.",
        }
        assert ours["name"] == "opencode-web"
        session = await client.create_session()
        page = (await client.http.get("/pickers/status", params={"session": session["id"]})).text
        assert "the skill is left out" in page
        assert "&lt;b&gt;bad" in page
        assert "<b>bad" not in page
        assert bad.exists()


@pytest.mark.parametrize("rule", ["allow", "ask", "deny"])
async def test_files_beside_a_skill_of_the_users_own_are_read_unasked(
    home: Path, project: Path, rule: str
) -> None:
    """Where the rules allow the skill; never by a link that leads away, never to be changed."""
    folder = write_skill(home / ".config/opencode/skills/greeting", "Bow first.").parent
    (folder / "bow.txt").write_text("deeply")
    (home / "secret.txt").write_text("hidden")
    (folder / "link.txt").symlink_to(home / "secret.txt")
    places = [folder / "bow.txt", folder / "link.txt", folder.parent / "x.txt", home / "secret.txt"]
    calls = [ToolUse("read", {"filePath": str(place)}) for place in places]
    calls.append(ToolUse("write", {"filePath": str(folder / "new.txt"), "content": "x"}))
    permission = {"*": "allow", "skill": rule, "external_directory": "deny"}
    script = [Turn(tools=calls), Turn(text="Done.")]
    async with serving(home, project, script, permission=permission) as (client, _):
        session = await client.create_session(title="named")
        await client.prompt(session["id"], "Greet.")
        states = [part["state"] for part in parts_of(await client.messages(session["id"]), "tool")]
        first = "completed" if rule == "allow" else "error"
        assert [state["status"] for state in states] == [first, *["error"] * 4]
        denied = states if rule != "allow" else states[1:]
        assert all("external_directory is denied" in state["error"] for state in denied)
        assert ("deeply" in str(states[0])) == (rule == "allow")
