from __future__ import annotations

import re
from itertools import permutations

from agents.agent.offered.naming import LONGEST, is_plain, prompt_names, tool_names


def test_names_are_what_providers_take() -> None:
    pairs = [("my server", "../x"), ("a", "é" * 100), ("a", ""), ("b", "x" * 80)]
    names = tool_names(pairs)
    assert names["my server", "../x"] == "my_server____x"
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]+", name) and len(name) <= LONGEST for name in names.values())


def test_a_collision_is_resolved_alike_whatever_the_order() -> None:
    pairs = [("a.b", "c"), ("a_b", "c"), ("a", "b_c")]
    names = [tool_names(order) for order in permutations(pairs)]
    assert all(one == names[0] for one in names)
    assert len(set(names[0].values())) == 3
    assert names[0]["a", "b_c"] == "a_b_c"  # the first by name
    assert [is_plain(pair, names[0][pair]) for pair in pairs] == [False, False, True]
    assert all(name.startswith("a_b_c") for name in names[0].values())


def test_a_built_in_tool_keeps_its_name() -> None:
    (name,) = tool_names([("apply", "patch")], taken={"apply_patch"}).values()
    assert re.fullmatch(r"apply_patch_[0-9a-f]{6}", name)


def test_prompts_are_named_as_commands() -> None:
    assert list(prompt_names([("my.server", "do it")]).values()) == ["my_server:do_it"]
