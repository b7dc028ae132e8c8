from __future__ import annotations

from tests.runtime.conftest import home, project

__all__ = ["home", "project"]
