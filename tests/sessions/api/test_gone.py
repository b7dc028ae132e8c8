"""A folder that goes while a request about it is answered is not found; what else is missing is a fault."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory
from ninja import NinjaAPI

from sessions.api.base import add_error_shapes, directory_of, wire
from sessions.core.repository import Repository


def answer(folder: Path, missing: Path) -> HttpResponse:
    api = NinjaAPI(urls_namespace="gone")
    add_error_shapes(api)
    request = RequestFactory().get("/", {"directory": str(folder)})

    def look(request: HttpRequest) -> HttpResponse:
        here = directory_of(request)
        missing.rmdir()
        Repository.of(missing if missing != folder else here)
        return wire(True)

    try:
        return look(request)
    except FileNotFoundError as error:
        return api.on_exception(request, error)


def test_a_folder_that_went_is_not_found(tmp_path: Path) -> None:
    folder = tmp_path / "going"
    folder.mkdir()
    answered = answer(folder, folder)
    assert (answered.status_code, json.loads(answered.content)["name"]) == (404, "NotFoundError")


def test_another_file_that_is_missing_is_a_fault(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(FileNotFoundError):
        answer(tmp_path, other)
