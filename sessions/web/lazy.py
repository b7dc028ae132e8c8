"""Views whose module is imported when one of them is first asked for (docs/decisions/0072)."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from asgiref.sync import markcoroutinefunction
from django.http import HttpRequest, HttpResponseBase


class LazyView:
    """An asynchronous view by its name; what decorators leave on a view for middleware to see is not seen."""

    def __init__(self, module: str, name: str) -> None:
        self.__module__ = module
        self.__name__ = self.__qualname__ = name
        markcoroutinefunction(self)  # what Django looks at

    def load(self) -> Any:
        """The view itself. Raises ImportError and AttributeError where there is none."""
        return getattr(import_module(self.__module__), self.__name__)

    async def __call__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response: HttpResponseBase = await self.load()(request, *args, **kwargs)
        return response


_named: list[LazyView] = []


class LazyViews:
    """In place of the module of that name: its attributes are its views."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> LazyView:
        view = LazyView(self._module, name)
        setattr(self, name, view)  # one view is one object, at however many addresses
        _named.append(view)
        return view


def load_all() -> list[Any]:
    """All views that were named until now, themselves. Raises as `LazyView.load`."""
    return [view.load() for view in _named]
