"""What was loaded is kept from the garbage collector, which goes on with the rest."""

from __future__ import annotations

import gc

import pytest

from sessions.core.heap import permanent


def test_the_collector_is_on_again_also_after_a_failure() -> None:
    frozen = gc.get_freeze_count()
    try:
        with pytest.raises(ImportError), permanent():
            assert not gc.isenabled()
            raise ImportError
        assert gc.isenabled()
        assert gc.get_freeze_count() > frozen
    finally:
        gc.unfreeze()
