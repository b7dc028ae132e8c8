from tests.sessions.review.conftest import world

__all__ = ["world"]
