"""The `lsp` tool on a real language server."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.toolkit.base import ToolError, ToolResult
from agents.toolkit.permission.defaults import DEFAULTS
from agents.toolkit.permission.errors import PermissionDenied
from agents.toolkit.permission.rules import Rule
from agents.tools import lsp
from tests.agents.servers.lsp.uses import places
from tests.agents.servers.lsp.uses.conftest import configured
from tests.agents.servers.lsp.uses.places import CODE, USER, Configured
from tests.agents.tools.context import DirectContext

__all__ = ["configured"]

OFF = Rule("read", "user.py", "ask")


async def ask(
    context: DirectContext, operation: str, line: int = 1, character: int = 1, **more: str
) -> ToolResult:
    given = {"operation": operation, "filePath": "code_of.py", "line": line, "character": character, **more}
    return await lsp.execute(lsp.Input.model_validate(given), context)


async def test_what_a_server_knows_of_the_code(configured: Configured, user_environ: dict[str, str]) -> None:
    context = configured(lsp=places.basedpyright(user_environ))
    context.turn = replace(context.turn, rules=DEFAULTS)
    places.write(context.directory, code_of=CODE, user=USER)

    outline = await ask(context, "documentSymbol")
    assert outline.output.splitlines()[-2:] == ["6-8: class Greeter", "7-8: method greet in Greeter"]
    assert outline.title == "documentSymbol code_of.py"
    hover = await ask(context, "hover", 8, 16)
    assert "(function) def hello(name: str) -> str" in hover.output
    assert hover.title == "hover code_of.py:8:16"
    assert (
        await ask(context, "goToDefinition", 8, 16)
    ).output == "code_of.py:1:5: def hello(name: str) -> str:"
    assert (await ask(context, "hover", 4, 1)).output == "Nothing was found."

    uses = await ask(context, "findReferences", 1, 5)
    assert sorted(uses.output.splitlines()) == [
        "code_of.py:1:5: def hello(name: str) -> str:",
        'code_of.py:8:16: return hello("you")',
        "user.py:1:21: from code_of import hello",
        'user.py:3:7: print(hello("me"))',
    ]
    assert (uses.metadata["count"], uses.metadata["result"][0].keys()) == (4, {"uri", "range"})
    calls = (await ask(context, "incomingCalls", 1, 5)).output
    assert 'code_of.py:7:9: function greet\n  code_of.py:8:16: return hello("you")' in calls
    assert '  user.py:3:7: print(hello("me"))' in calls
    assert (await ask(context, "outgoingCalls", 7, 9)).output.startswith("code_of.py:1:5: function hello")
    assert "function hello" in (await ask(context, "prepareCallHierarchy", 1, 5)).output
    named = await ask(context, "workspaceSymbol", query="Greet")
    assert "code_of.py:6:7: class Greeter" in named.output
    assert named.title == "workspaceSymbol Greet"
    assert isinstance((await ask(context, "goToImplementation", 1, 5)).output, str)

    context.turn = replace(context.turn, rules=[*DEFAULTS, Rule("read", "user.py", "ask")])
    hidden = (await ask(context, "findReferences", 1, 5)).output
    assert "user.py:3:7\n" in f"{hidden}\n", "no line of a file that may not be read unasked"
    assert 'hello("me")' not in hidden


async def test_what_is_staged_is_what_is_asked_about(
    configured: Configured, user_environ: dict[str, str]
) -> None:
    context = configured(lsp=places.basedpyright(user_environ))
    places.write(context.directory, code_of=CODE)
    context.staged[context.directory / "code_of.py"] = b"x = '\xf0\x9d\x92\xb3'; later = 1\n"
    assert (await ask(context, "hover", 1, 10)).output.count("later") == 1, "columns count characters"


async def test_where_there_is_nothing_to_ask(configured: Configured) -> None:
    context = configured(lsp=places.finder())
    places.write(context.directory, code_of=CODE)
    with pytest.raises(ToolError, match=r"No language server that runs here is for code_of\.py\."):
        await ask(context, "hover")
    with pytest.raises(ToolError, match="does not exist"):
        await ask(context, "hover", filePath="gone.find")
    with pytest.raises(ToolError, match="is a directory"):
        await ask(context, "hover", filePath=".")
    (context.directory / "a.find").touch()
    with pytest.raises(ToolError, match="did not answer: finder: it does not answer textDocument/hover"):
        await ask(context, "hover", filePath="a.find")


async def test_it_asks_with_the_file_and_is_offered_where_a_server_is(configured: Configured) -> None:
    context = configured(lsp=places.finder())
    places.write(context.directory, code_of=CODE)
    context.decision = "deny"
    with pytest.raises(PermissionDenied):
        await ask(context, "hover", 8, 16)
    (asked,) = context.asked
    assert (asked.permission, asked.patterns, asked.always) == ("lsp", ("code_of.py",), ("*",))
    assert asked.metadata["operation"] == "hover"
    assert [tool.name for tool in await lsp.contributed(context.turn)] == ["lsp"]
    assert await lsp.contributed(configured(lsp=False).turn) == []
