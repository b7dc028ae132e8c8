"""Reading a diff: hunks, lines around them, white space, images, and files too long to be shown at once."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, Locator, expect

from tests.e2e.stage import Stage, Tab
from tests.loopback.script import ToolUse, Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

LINES = 100_000
SMALL = """
from pathlib import Path
code = Path("code.py")
text = code.read_text().replace("value_10 = 10", "value_10  =  10").replace("value_60 = 60", "value_60 = 61")
code.write_text(text.replace("value_70 = 70\\n", "# seventy\\nvalue_70 = 71\\n"))
Path("logo.png").write_bytes(bytes.fromhex(Path("new.hex").read_text()))
"""
HUGE = f"""
from pathlib import Path
Path("huge.txt").write_text("".join("%d is new\\n" % n for n in range({LINES})))
"""


def png(width: int, height: int, red: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + bytes([red, 40, 90]) * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


async def changed(stage: Stage, context: BrowserContext, name: str, script: str) -> Tab:
    """A session in which a command ran a Python script in a folder of its own."""
    (stage.project / f"{name}.py").write_text(script)
    stage.plays(
        Turn(tools=[ToolUse("bash", {"command": f"python3 ../{name}.py", "workdir": name})]),
        Turn(text="Done."),
    )
    tab = await stage.tab(context, await stage.session(name))
    await tab.send("Change it.")
    await expect(tab.messages).to_contain_text("Done.")
    await tab.idle()
    return tab


def file(tab: Tab, name: str) -> Locator:
    return tab.review.locator(f'.file[data-file$="{name}"]')


async def folder(stage: Stage, name: str) -> Path:
    path = stage.project / name
    path.mkdir()
    return path


async def test_reading_a_small_diff(stage: Stage, context: BrowserContext) -> None:
    path = await folder(stage, "reading")
    code = [f"value_{number} = {number}\n" for number in range(1, 121)]
    (path / "code.py").write_text("".join(code))
    (path / "logo.png").write_bytes(png(32, 16, 200))
    (path / "new.hex").write_text(png(64, 48, 20).hex())
    tab = await changed(stage, context, "reading", SMALL)
    diff = file(tab, "code.py")
    await expect(diff.locator("tbody.hunk")).to_have_count(3)
    rows = diff.locator("tbody.hunk").nth(2).locator("tr.add")
    await expect(rows.nth(1).locator("mark")).to_have_text("71")
    await expect(rows.first.locator("mark")).to_have_count(0)

    await diff.get_by_role("button", name="Show 20 lines from line 14 on").click()
    await expect(diff.locator(".expanded .num.new").last).to_have_attribute("data-n", "33")
    await diff.get_by_role("button", name="Show all 23 lines from line 34 on").click()
    await expect(diff.locator('.expanded .num.new[data-n="56"]')).to_have_count(1)
    shown = await diff.locator(".num.new[data-n]").evaluate_all(
        "cells => cells.map((c) => Number(c.dataset.n))"
    )
    assert shown == sorted(shown)

    images = file(tab, "logo.png").locator("figure")
    await expect(images.nth(0)).to_contain_text("32 × 16 pixels")
    await images.nth(1).scroll_into_view_if_needed()
    await expect(images.nth(1).locator("img")).to_have_js_property("naturalWidth", 64)

    await tab.review.get_by_text("Ignore white space").click()
    await expect(diff.locator("tbody.hunk")).to_have_count(2)
    await expect(diff.locator(".gap").first).to_contain_text("1 hunk of white space only not shown")
    await tab.review.get_by_text("Ignore white space").click()
    await expect(diff.locator("tbody.hunk")).to_have_count(3)


async def test_one_side_of_a_split_diff_is_copied(stage: Stage, context: BrowserContext) -> None:
    path = await folder(stage, "copied")
    (path / "code.py").write_text("one = 1\ntwo = 2\nthree = 3\n")
    script = "from pathlib import Path\nPath('code.py').write_text('one = 1\\ntwo = 22\\nthree = 33\\n')\n"
    tab = await changed(stage, context, "copied", script)
    await tab.review.get_by_text("Split").click()
    cells = file(tab, "code.py").locator("table.split td.line.new")
    await expect(cells).to_have_count(3)
    boxes = [await cells.nth(at).bounding_box() for at in (0, 2)]
    first, last = (box for box in boxes if box)
    await tab.page.mouse.move(first["x"] + 19, first["y"] + 8)
    await tab.page.mouse.down()
    await tab.page.mouse.move(last["x"] + 180, last["y"] + 10, steps=5)
    await tab.page.mouse.up()
    copied = await tab.page.evaluate(
        """() => new Promise((done) => {
          const copied = (event) => done(event.clipboardData.getData("text/plain"));
          document.addEventListener("copy", copied, { once: true });
          document.execCommand("copy");
        })"""
    )
    assert copied == "one = 1\ntwo = 22\nthree = 33"


@pytest.mark.long
async def test_a_hundred_thousand_lines(stage: Stage, context: BrowserContext) -> None:
    path = await folder(stage, "huge")
    (path / "huge.txt").write_text("".join(f"{n}\n" for n in range(LINES)))
    tab = await changed(stage, context, "huge", HUGE)
    diff = file(tab, "huge.txt")
    await expect(diff.locator("tr.del").first).to_be_visible()
    assert await tab.review.evaluate("panel => panel.scrollHeight") > 2 * LINES * 20
    assert await diff.locator("tr").count() < 1000

    await tab.review.evaluate("panel => { panel.scrollTop = panel.scrollHeight / 2; }")
    middle = diff.locator('.more .num.new[data-n="20"]')
    await expect(middle).to_be_in_viewport()
    top = await middle.evaluate("cell => cell.getBoundingClientRect().top")
    await expect(diff.locator('.more .num.old[data-n="99950"]')).to_have_count(1)
    assert abs(await middle.evaluate("cell => cell.getBoundingClientRect().top") - top) < 2, "nothing jumps"

    await tab.review.evaluate("panel => { panel.scrollTop = panel.scrollHeight; }")
    await expect(diff.locator(f'.num.new[data-n="{LINES}"]')).to_be_in_viewport()
    for place in range(1, 31):
        await tab.review.evaluate("(panel, at) => { panel.scrollTop = at * 4000; }", place)
        number = diff.locator(f'.num.old[data-n="{200 * place}"]')
        await number.wait_for()  # at once, where `expect` would look again after half a second
        await expect(number).to_be_in_viewport()
    assert await diff.locator("tr").count() < 5000, "what is far away is taken out again"
