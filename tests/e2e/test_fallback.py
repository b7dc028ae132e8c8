"""A model that fails: the notice of the one that took over, and the offer of others at an error."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import BrowserContext, expect

from tests.e2e.conftest import repository
from tests.e2e.stage import Stage
from tests.loopback.script import HttpError, TokenUsage, Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

SPENT = Turn(fault=HttpError(402, "Your credit is spent"))


class TwoModels(Stage):
    def configuration(self) -> dict[str, Any]:
        config = super().configuration()
        models = config["provider"]["fake"]["models"]
        models["other"] = {**models["fake"], "name": "Other"}
        return config


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def two(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[TwoModels]:
    home, project = tmp_path_factory.mktemp("home"), repository(tmp_path_factory.mktemp("two") / "project")
    async with TwoModels(home, project, fallback=["fake/other"], agent={"plan": {"fallback": []}}) as stage:
        yield stage


async def test_the_notice_of_another_model(two: TwoModels, context: BrowserContext) -> None:
    two.plays(SPENT, Turn(reasoning="Hm, two files.", text="There are two files."))
    tab = await two.tab(context, await two.session("switched"))
    await tab.send("Look.")
    await expect(tab.messages).to_contain_text("There are two files.")
    words = "Fake failed (Your credit is spent). Other goes on with this turn."
    await expect(tab.messages.get_by_text(words)).to_be_visible()
    await expect(tab.page.locator(".byline").last).to_contain_text("Other")
    await expect(tab.messages.get_by_role("alert")).to_have_count(0)
    await tab.page.reload()
    await expect(tab.messages.get_by_text(words)).to_be_visible()


async def test_others_are_offered_where_all_have_failed(two: TwoModels, context: BrowserContext) -> None:
    two.plays(SPENT, SPENT, Turn(text="At last.", usage=TokenUsage(output=4)))
    tab = await two.tab(context, await two.session("spent"))
    await tab.send("Try.")
    await expect(tab.messages.get_by_role("alert")).to_contain_text("Your credit is spent")
    await tab.page.get_by_role("button", name="Go on with Other").click()
    await expect(tab.messages).to_contain_text("At last.")
    await expect(tab.page.locator(".byline").last).to_contain_text("Other")
    assert two.model.requests[-1].body["model"] == "other"
