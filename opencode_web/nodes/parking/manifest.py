"""What is parked of a project: states one after the other, each with a manifest beside its bundle."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from opencode_web.nodes.parking.place import Place, Unavailable

LONGEST_CHAIN = 100
"""States that stand on one another, until one is whole again: all of them are fetched for the last."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """A state of the project `path` at `node`, of `time` (ms): `tree` of the snapshot, and a `commit` with it
    and with the contents that undo needs, which a bundle has. It stands on the others of its `chain`, which
    is named by the time of its first. Where the repository had commits that no remote has, `history` says
    that these are in a bundle, too.

    `remote` is the address to clone from, `head` what the repository stood on, `branch` its name (empty: on
    none), `heads` its branches. `left_out` are files that are in no snapshot. `session` is the one whose turn
    ended, `epoch` the workspace's.
    """

    node: str
    project: str
    path: str
    time: int
    chain: int
    tree: str
    commit: str = ""
    history: bool = False
    remote: str = ""
    head: str = ""
    branch: str = ""
    heads: Mapping[str, str] = field(default_factory=dict)
    left_out: Sequence[str] = ()
    session: str = ""
    epoch: int = 1

    @property
    def key(self) -> str:
        """Of the bundle, without its ending."""
        return key_of(self.node, self.project, Moment(self.time, self.chain))

    @property
    def bundle(self) -> str:
        return f"{self.key}.bundle"

    @property
    def commits(self) -> str:
        return f"{self.key}.history"

    def stands_as(self, other: Manifest) -> bool:
        """Whether the repository stood then as at another one."""
        return (self.head, self.branch, self.heads) == (other.head, other.branch, other.heads)

    def json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True, order=True)
class Moment:
    """When a state was parked, and in which chain it is (ms)."""

    time: int
    chain: int


def key_of(node: str, project: str, moment: Moment) -> str:
    return f"{node}/{project}/{moment.chain:013d}/{moment.time:013d}"


def moments(place: Place, node: str, project: str) -> list[Moment]:
    """Those of which a state is parked, in order. Raises Unavailable."""
    keys = (key.split("/")[-2:] for key in place.names(f"{node}/{project}") if key.endswith(".json"))
    return sorted(Moment(int(name.removesuffix(".json")), int(chain)) for chain, name in keys)


def read(place: Place, node: str, project: str, moment: Moment) -> Manifest:
    """The state of one of `moments`. Raises Unavailable."""
    key = f"{key_of(node, project, moment)}.json"
    try:
        return Manifest(**json.loads(place.get(key)))
    except (ValueError, TypeError) as error:
        raise Unavailable(f"{key} was written by another version, or is damaged: {error}") from error


def write(place: Place, manifest: Manifest) -> None:
    """Last: what it names is there. Raises Unavailable."""
    place.put(f"{manifest.key}.json", json.dumps(manifest.json()).encode())


def forget(place: Place, node: str, project: str, before: int) -> None:
    """Remove the chains that ended before a moment (ms), but the last two. Raises Unavailable."""
    ends = {moment.chain: moment.time for moment in moments(place, node, project)}
    for chain in sorted(ends)[:-2]:
        if ends[chain] < before:
            place.remove(place.names(f"{node}/{project}/{chain:013d}"))
