"""A picture that is attached is looked at and edited before it is sent."""

from __future__ import annotations

import struct
import zlib

import pytest
from playwright.async_api import BrowserContext, FilePayload, Locator, expect

from tests.e2e.access.scan import NARROW
from tests.e2e.stage import Stage, Tab
from tests.loopback.script import Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

WIDTH, HEIGHT = 200, 100
PIXELS = """async (image) => {
  await image.decode();
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: image.naturalWidth, height: image.naturalHeight });
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const at = (x, y) => [...context.getImageData(x, y, 1, 1).data];
  const { width, height } = canvas;
  return { width, height, middle: at(50, 50), edge: at(50, 25), corner: at(2, 2) };
}"""
BLACK, WHITE = [0, 0, 0, 255], [255, 255, 255, 255]


def stripes() -> bytes:
    """A PNG of columns, one black and one white."""
    row = b"\0" + bytes(255 * (x % 2) for x in range(WIDTH) for _ in range(3))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    packed = zlib.compress(row * HEIGHT)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


STRIPES: FilePayload = {"name": "stripes.png", "mimeType": "image/png", "buffer": stripes()}


async def opened(tab: Tab) -> Locator:
    """The dialog of the picture that is attached."""
    await tab.page.get_by_role("button", name="Enlarge and edit stripes.png").click()
    dialog = tab.page.get_by_role("dialog", name="Edit stripes.png")
    await expect(dialog.locator("canvas")).to_be_visible()
    return dialog


async def drag(dialog: Locator, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Over the canvas, from and to shares of its sides."""
    box = await dialog.locator("canvas").bounding_box()
    assert box is not None
    mouse = dialog.page.mouse
    await mouse.move(box["x"] + start[0] * box["width"], box["y"] + start[1] * box["height"])
    await mouse.down()
    await mouse.move(box["x"] + end[0] * box["width"], box["y"] + end[1] * box["height"], steps=4)
    await mouse.up()


async def test_a_picture_is_cropped_and_marked(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(text="Seen."))
    tab = await stage.tab(context, await stage.session("edits a picture"))
    await tab.page.locator("#attach").set_input_files([STRIPES])
    dialog = await opened(tab)
    said = dialog.get_by_role("status")
    await drag(dialog, (0, 0), (0.25, 1))
    await expect(said).to_have_text("Cropped. 50 × 100 pixels.")
    await tab.page.keyboard.press("Control+z")
    await expect(said).to_have_text("Undone. 200 × 100 pixels.")
    await expect(dialog.get_by_role("button", name="Undo")).to_be_disabled()
    await drag(dialog, (0, 0), (0.5, 1))
    await expect(said).to_have_text("Cropped. 100 × 100 pixels.")
    await dialog.get_by_role("button", name="Blur").click()
    await drag(dialog, (0.3, 0.3), (0.7, 0.7))
    await dialog.get_by_role("button", name="Arrow").click()
    await drag(dialog, (0.1, 0.9), (0.9, 0.9))
    await expect(said).to_have_text("Arrow drawn. 100 × 100 pixels.")
    await dialog.get_by_role("button", name="Undo").click()
    await dialog.get_by_role("button", name="Box").click()
    await drag(dialog, (0.25, 0.25), (0.75, 0.75))
    await expect(said).to_have_text("Box drawn. 100 × 100 pixels.")
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog).to_have_count(0)

    image = tab.page.locator("#attachments img")
    await expect(tab.page.locator("#attachments li")).to_have_count(1)
    found = await image.evaluate(PIXELS)
    assert (found["width"], found["height"]) == (100, 100)
    assert found["middle"] not in (BLACK, WHITE), "no stripe is left"
    red, green, blue, _ = found["edge"]
    assert red > 200
    assert green < 100
    assert blue < 100
    assert found["corner"] in (BLACK, WHITE)
    source = await image.get_attribute("src")
    await tab.send("What is this?")
    await expect(tab.messages).to_contain_text("Seen.")
    content = stage.model.requests[-1].body["messages"][-1]["content"]
    assert {"type": "image_url", "image_url": {"url": source}} in content


async def test_it_is_edited_by_keys_alone(stage: Stage, context: BrowserContext) -> None:
    tab = await stage.tab(context, await stage.session("edits by keys"))
    keys = tab.page.keyboard
    await tab.page.set_viewport_size(NARROW)
    await tab.page.locator("#attach").set_input_files([STRIPES])
    await tab.page.get_by_role("button", name="Enlarge and edit stripes.png").press("Enter")
    dialog = tab.page.get_by_role("dialog", name="Edit stripes.png")
    said = dialog.get_by_role("status")
    canvas = dialog.get_by_role("application")
    await canvas.focus()
    await keys.press("ArrowRight")
    await expect(said).to_have_text("Crop: 100 × 50 at 50, 25")
    await keys.press("ArrowLeft")
    await keys.press("Shift+ArrowUp")
    await expect(said).to_have_text("Crop: 100 × 48 at 48, 25")
    await keys.press("Enter")
    await expect(said).to_have_text("Cropped. 100 × 48 pixels.")
    await keys.press("Escape")
    await expect(said).to_have_text("Escape again throws away what was done.")
    await keys.press("Escape")
    await expect(dialog).to_have_count(0)
    image = tab.page.locator("#attachments img")
    assert (await image.evaluate(PIXELS))["width"] == WIDTH

    dialog = await opened(tab)
    await dialog.get_by_role("button", name="Blur").press("Enter")
    await dialog.get_by_role("application").focus()
    await keys.press("ArrowRight")
    await keys.press("Enter")
    await expect(dialog.get_by_role("status")).to_have_text("Made unreadable. 200 × 100 pixels.")
    await dialog.get_by_role("button", name="Save").press("Enter")
    await expect(dialog).to_have_count(0)
    found = await image.evaluate(PIXELS)
    assert found["width"] == WIDTH
    assert found["middle"] not in (BLACK, WHITE)
    await tab.page.get_by_role("button", name="Remove stripes.png").click()
