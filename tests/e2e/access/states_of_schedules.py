"""The states of the pages of schedules."""

from __future__ import annotations

from playwright.async_api import Page, expect

from tests.e2e.access.state import shown, state
from tests.e2e.access.world import World
from tests.loopback.script import Turn


async def made(world: World, **given: object) -> str:
    """The id of a schedule of the project."""
    body = {"name": "Look around", "prompt": "Look around.", "when": {"kind": "hook"}, **given}
    answer = await world.stage.client.http.post("/schedule", json=body)
    answer.raise_for_status()
    return str(answer.json()["id"])


def of_project(world: World) -> str:
    return world.project.rstrip("/").rpartition("/")[2]


@state("/schedules", "/schedules/list")
async def schedules(world: World) -> Page:
    await made(world, when={"kind": "cron", "rule": "0 9 * * 1,3", "timezone": "Europe/Berlin"})
    await made(world, when={"kind": "files", "rule": "src/*"}, name="Paused one")
    page = await world.page(f"{world.url}/schedules?project={of_project(world)}")
    async with page.expect_response(lambda answer: "/schedules/list" in answer.url):
        pass
    return await shown(page, page.get_by_role("button", name="Run now").first)


@state("/p/{project}/schedules/new", "/p/{project}/schedules/times")
async def making_a_schedule(world: World) -> Page:
    page = await world.page(f"{world.project}schedules/new")
    await page.get_by_label("Work at it until it is reached: a goal").check()
    await page.get_by_role("combobox", name="When").select_option("cron")
    await page.get_by_label("Minute, hour").fill("0 9 * * * *")
    return await shown(page, page.get_by_text("A cron expression has five fields"))


@state("/p/{project}/schedules/{schedule}", "/p/{project}/schedules/{schedule}/runs")
async def a_schedule_with_its_runs(world: World) -> Page:
    world.stage.plays(Turn(text="I looked around."))
    id = await made(world)
    page = await world.page(f"{world.project}schedules/{id}")
    await page.get_by_role("button", name="Make an address").click()
    await expect(page.locator("#schedule-url")).to_be_visible()
    await page.get_by_role("button", name="Run now").click()
    return await shown(page, page.get_by_text("I looked around."))
