"""Keys that people bring along: sealed in rows, their own before the project's, read by their own alone."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from sessions.core.models import ProviderKey
from sessions.core.store import provider_keys

KEY = "sk-of-ada-1234567890"

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_key_is_sealed_and_shows_its_end() -> None:
    provider_keys.put("anthropic", KEY, person="Ada")
    (row,) = provider_keys.listed(person="Ada")
    assert KEY not in row.sealed
    assert row.ending == "7890"
    assert provider_keys.in_force("Ada", "p")["anthropic"].key == KEY
    assert provider_keys.in_force("Grace", "p") == provider_keys.in_force("", "") == {}


def test_ones_own_comes_before_the_projects() -> None:
    provider_keys.put("anthropic", "the project's", project="p")
    provider_keys.put("openai", "also the project's", project="p")
    provider_keys.put("anthropic", KEY, person="Ada")
    found = provider_keys.in_force("Ada", "p")
    assert {name: (key.key, key.whose) for name, key in found.items()} == {
        "anthropic": (KEY, "Ada’s key"),
        "openai": ("also the project's", "the project’s key"),
    }
    assert provider_keys.in_force("Grace", "p")["anthropic"].key == "the project's"
    assert provider_keys.in_force("Ada", "other").keys() == {"anthropic"}


def test_a_new_key_takes_the_place_of_the_old_one_and_is_removed_by_its_own() -> None:
    provider_keys.put("anthropic", "old", person="Ada")
    provider_keys.put("anthropic", KEY, person="Ada")
    (row,) = provider_keys.listed(person="Ada")
    provider_keys.remove(str(row.pk), person="Grace")
    provider_keys.remove(str(row.pk), project="Ada")
    assert ProviderKey.objects.count() == 1
    provider_keys.remove(str(row.pk), person="Ada")
    assert ProviderKey.objects.count() == 0


def test_a_key_of_another_secret_is_left_out(settings: Settings) -> None:
    provider_keys.put("anthropic", KEY, person="Ada")
    settings.SECRET_KEY = "another"
    assert provider_keys.in_force("Ada", "p") == {}
