"""Make a module of source text that is in memory already."""

from __future__ import annotations

import sys
from importlib.abc import InspectLoader
from importlib.machinery import ModuleSpec
from importlib.util import decode_source, module_from_spec
from types import CodeType, ModuleType


class _Loader(InspectLoader):
    """Compiles the text that was trusted. The usual loader would read the file once more, and might take a
    compiled file beside it, which the user has never seen."""

    def __init__(self, content: bytes, path: str) -> None:
        self._content = content
        self._path = path

    def get_source(self, fullname: str) -> str:
        return decode_source(self._content)

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self._content, self._path)


def make_module(name: str, path: str, content: bytes) -> ModuleType:
    """Run the source as the module `name`, in the calling thread; `path` is for tracebacks.

    Whatever the module raises goes up; SyntaxError and UnicodeDecodeError for what is no Python. The module
    stays in `sys.modules`, where dataclasses and pydantic look up annotations, until `forget_module`.
    """
    loader = _Loader(content, path)
    module = module_from_spec(ModuleSpec(name, loader, origin=path))
    module.__file__ = path
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    except BaseException:
        forget_module(name)
        raise
    return module


def forget_module(name: str) -> None:
    sys.modules.pop(name, None)
