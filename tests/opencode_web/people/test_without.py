"""A server with one login has nothing of people in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.server import ROOT

SCRIPT = """
import json, sys
from opencode_web import asgi
from opencode_web.cli.start import door
from opencode_web.site.security.policy import policy_for
from django.apps import apps
from sessions.web.lazy import load_all
door(asgi.whole(), policy_for("127.0.0.1", 4096, "secret", {}), None)
load_all()
print(json.dumps([sorted(sys.modules), [app.label for app in apps.get_app_configs()]]))
"""
OURS = ("allauth", "opencode_web.people", "django.contrib.auth.middleware", "django.contrib.sessions")


def test_nothing_of_people_is_there(tmp_path: Path) -> None:
    from_nothing = {"XDG_DATA_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    environ = os.environ | from_nothing | {"DJANGO_SETTINGS_MODULE": "opencode_web.settings"}
    folder = tmp_path / "opencode-web"
    folder.mkdir(mode=0o700)
    made = [sys.executable, "-m", "django", "migrate", "--verbosity", "0"]
    subprocess.run(made, env=environ, check=True)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environ, check=True, capture_output=True, text=True
    )
    modules, labels = json.loads(done.stdout)
    assert [name for name in modules if name.startswith(OURS)] == []
    assert not {"people", "auth", "sessions", "account", "mfa"} & set(labels)
