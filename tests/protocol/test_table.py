"""`docs/wire.md` says of every operation of OpenCode's document how it stands here."""

from __future__ import annotations

import pytest

from tests.protocol.departures import DIFFERS, LEFT_OUT
from tests.protocol.served import Served
from tests.protocol.table import PAGE, page

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_the_page_is_what_the_documents_say(served: Served) -> None:
    ours = await served.get("/doc")
    assert PAGE.read_text() == page(served.reference, ours), "run `python -m tests.protocol.table`"


async def test_no_operation_is_missing(served: Served) -> None:
    assert "| missing |" not in PAGE.read_text()


async def test_what_departs_is_an_operation_of_the_document(served: Served) -> None:
    assert {*DIFFERS, *LEFT_OUT} <= {operation.id for operation in served.reference.operations}
