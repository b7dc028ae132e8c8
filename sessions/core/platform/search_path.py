"""Where programs are looked for: on PATH as the person has it, and on the server's own (docs/decisions/0073).

The environment of a project is often on PATH: an activated virtual environment, `node_modules/.bin`. An agent
writes there, so what the server runs by itself, which nothing confines, is not looked for in a project.
"""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

_lock = threading.Lock()
_known: set[str] = set()
_left_out: set[Path] = set()
_persons = _own = ""


def leave_out(folder: str) -> None:
    """Agents work in this folder: from here on the PATH of this process leads neither there nor to where it
    happens to run. A folder that has the home folder in it changes nothing, as nothing is confined there."""
    global _persons, _own
    if folder in _known:
        return
    with _lock:
        _known.add(folder)
        if not Path.home().resolve().is_relative_to(folder):
            _left_out.add(Path(folder))
        _persons = persons()
        _own = os.pathsep.join(place for place in _persons.split(os.pathsep) if _is_outside(place))
        if _own != _persons:
            os.environ["PATH"] = _own


def persons() -> str:
    """For what people and their agents run: PATH as the server was started with it."""
    path = os.environ.get("PATH", os.defpath)
    return _persons if path == _own else path


def configured() -> str:
    """For what a configuration names: the project's own programs are found, but take no other's place."""
    own = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join([*own, *(place for place in persons().split(os.pathsep) if place not in own)])


def program(name: str) -> str:
    """One of the server's own, to be run with the PATH of a person; its name where there is none."""
    return shutil.which(name) or name


def _is_outside(place: str) -> bool:
    spellings = Path(os.path.normpath(place)), Path(os.path.realpath(place))
    return os.path.isabs(place) and not any(
        spelling.is_relative_to(folder) for folder in _left_out for spelling in spellings
    )
