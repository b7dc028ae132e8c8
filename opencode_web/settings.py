"""Django's settings. What a person may change comes from the environment (`sessions.core.variables`)."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

from django.core.exceptions import ImproperlyConfigured

from opencode_web import databases, languages, locate, team
from sessions.core import paths, retention, variables
from sessions.core.bus_redis import installation

Read = TypeVar("Read")


def _in_words(read: Callable[[], Read]) -> Read:
    try:
        return read()
    except ValueError as error:
        raise ImproperlyConfigured(str(error)) from error


BASE_DIR = locate.root()
DATA_DIR = paths.data_directory()

SECRET_KEY = paths.secret()
DEBUG = False
ALLOWED_HOSTS = ["*"]  # the guard checks Host; opencode_web/site/apps.py checks that there is one
USE_TZ = True
TIME_ZONE = "UTC"
USE_I18N = True
LANGUAGE_CODE = languages.ENGLISH
LANGUAGES = languages.available()
LANGUAGE_COOKIE_NAME = "language"
LOCALE_PATHS = [languages.CATALOGUES]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
DATA_UPLOAD_MAX_MEMORY_SIZE = 32 * 1024 * 1024  # as opencode_web/site/server.py has it

INSTALLED_APPS = [
    "channels",
    "django.contrib.staticfiles",
    "django_htmx",
    "opencode_web.site",
    "sessions.core",
    "agents",
]

# Host, Origin, login, CSRF and response headers are the guard's, around HTTP and WebSocket alike.
MIDDLEWARE = [
    "opencode_web.site.middleware.guarded",
    "opencode_web.site.middleware.compressed",
    "opencode_web.site.middleware.api_urls",
    "opencode_web.site.middleware.translated",
    "django_htmx.middleware.HtmxMiddleware",
]

PEOPLE = team.has_people(os.environ)
"""Whether people sign in by their own names, by django-allauth (docs/decisions/0052)."""
TWO_PEOPLE = PEOPLE and variables.TWO_PEOPLE.is_true()
"""Whether who sent a prompt may not allow what its turn asks."""
OIDC = team.issuer(os.environ) if PEOPLE else None
"""Where people may sign in besides (docs/decisions/0057)."""
PERSON_TURNS = int(_in_words(variables.PERSON_TURNS.number)) if PEOPLE else 0
PERSON_COST = _in_words(variables.PERSON_COST.number) if PEOPLE else 0.0
"""What a person may have at once, and a day in US dollars; 0 without a limit."""
FRONT = team.is_front(os.environ)
ROOT_URLCONF = "opencode_web.nodes.urls" if team.schema(os.environ) else "opencode_web.urls"
BASE_PATH = team.base_path(os.environ)
"""Before the path of every address of this server (docs/decisions/0049)."""

TEMPLATES = [
    {
        "BACKEND": "sessions.rendering.templates.Templates",
        "NAME": "django",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "builtins": [
                "django.templatetags.i18n",
                "sessions.rendering.translating",
                "sessions.web.templatetags.page",
            ],
            "context_processors": ["opencode_web.people.sign_in.token"] if PEOPLE else [],
            "loaders": [
                ("django.template.loaders.cached.Loader", ["django.template.loaders.filesystem.Loader"])
            ],
        },
    }
]

NODE = team.node(os.environ)
"""The name of this machine in a team; empty where it is none of one."""
PARK = team.park(os.environ)
FRONT_PATH = team.front_path(os.environ)
DATABASES = databases.every(os.environ, DATA_DIR)
if len(DATABASES) > 1:
    INSTALLED_APPS.append("opencode_web.nodes")
    DATABASE_ROUTERS = ["opencode_web.nodes.router.Router"]

if PEOPLE:
    INSTALLED_APPS += [
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "django.contrib.sessions",
        "opencode_web.people",
        "allauth",
        "allauth.account",
        "allauth.mfa",
    ]
    MIDDLEWARE += [
        "opencode_web.people.middleware.signed_in",
        "allauth.account.middleware.AccountMiddleware",
        "opencode_web.people.middleware.permitted",
    ]
    AUTH_USER_MODEL = "people.Person"
    AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
    AUTH_PASSWORD_VALIDATORS = [
        {
            "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
            "OPTIONS": {"min_length": 10},
        },
        {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    ]
    LOGIN_URL, LOGIN_REDIRECT_URL = f"{BASE_PATH}/login", f"{BASE_PATH}/"
    SESSION_COOKIE_NAME, SESSION_COOKIE_PATH = "opencode_web_signing_in", f"{BASE_PATH}/"
    SESSION_COOKIE_SAMESITE = "Strict"
    ACCOUNT_ADAPTER = "opencode_web.people.adapters.Adapter"
    ACCOUNT_LOGIN_METHODS = {"username"}
    ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]
    ACCOUNT_USER_MODEL_USERNAME_FIELD = "name"
    ACCOUNT_USER_MODEL_EMAIL_FIELD = None
    ACCOUNT_EMAIL_VERIFICATION = "none"
    ACCOUNT_PRESERVE_USERNAME_CASING = True
    ACCOUNT_AUTHENTICATED_LOGIN_REDIRECTS = False
    ACCOUNT_SESSION_REMEMBER = False
    ACCOUNT_LOGIN_ON_PASSWORD_RESET = True
    ACCOUNT_LOGOUT_ON_PASSWORD_CHANGE = False
    if OIDC:
        INSTALLED_APPS += ["allauth.socialaccount", "allauth.socialaccount.providers.openid_connect"]
        SOCIALACCOUNT_ADAPTER = "opencode_web.people.oidc.SocialAdapter"
        SOCIALACCOUNT_LOGIN_ON_GET = True  # the state of a sign-in is bound to the browser that began it
        SOCIALACCOUNT_REAUTHENTICATION_REQUIRED = True
        SOCIALACCOUNT_PROVIDERS = {
            "openid_connect": {
                "provider_class": "opencode_web.people.oidc.Provider",
                "APPS": [
                    {
                        "provider_id": "oidc",
                        "name": OIDC.name,
                        "client_id": OIDC.client_id,
                        "secret": OIDC.client_secret,
                        "settings": {"server_url": OIDC.address.rstrip("/"), "oauth_pkce_enabled": True},
                    }
                ],
            }
        }
    MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
    MFA_TOTP_ISSUER = "opencode-web"

METRICS = variables.METRICS.is_true()

REDIS_URL = variables.REDIS_URL.read()
"""Joins several processes to one server; empty: this process is the whole server."""

RUNS_TURNS = not variables.NO_WORKER.read()
"""Whether this process runs turns; else `opencode-web worker` does."""

LEASE_SECONDS = _in_words(variables.LEASE_SECONDS.number)
if NODE and not os.environ.get(variables.LEASE_SECONDS.name):
    LEASE_SECONDS = 6.0  # so that within ten a turn is closed whose machine went away
"""How long after its last heartbeat a worker's turn is taken over by another."""

MOST_TURNS = int(_in_words(variables.TURNS.number))
"""At once in this process; 0 without a limit."""

HOOK_SECONDS = _in_words(variables.HOOK_SECONDS.number)
"""How long one hook of a plugin may take before the turn goes on without it."""

INSTALLATION = installation(SECRET_KEY)
_PROCESSES = f"{INSTALLATION}.{NODE}" if NODE else INSTALLATION
AGENT_CHANNEL = f"{_PROCESSES}.agent"
EVENT_CHANNEL = f"{_PROCESSES}.events"
"""One Redis may serve several installations, each in a database of its own: Pub/Sub knows none. Nodes of a
team hear nothing of one another."""

_IN_MEMORY = {"BACKEND": "channels.layers.InMemoryChannelLayer", "CONFIG": {"capacity": 100_000}}
_IN_REDIS = {
    "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
    # redis-py would take five idle seconds for a dead connection.
    "CONFIG": {"hosts": [{"address": REDIS_URL, "socket_timeout": None}]},
}
CHANNEL_LAYERS = {"default": _IN_REDIS if REDIS_URL else _IN_MEMORY}

STATIC_URL = f"{BASE_PATH}/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "opencode_web.site.static_files.Storage"},
}

OPENED_DIRECTORY = variables.DIRECTORY.read()
"""The project named on the command line; empty when none was."""

CONFIG_DIRS = paths.config_directories()
"""The person's own; the first is the one that is written."""
AUTH_FILES = paths.auth_files()
"""Where `agents` finds provider keys; the first file is ours to write."""

AGENTS = "agents.answers.answers"
"""Whom `sessions` asks what it may not import."""

WORKER_DIR = paths.workers()
"""A file for each process that holds leases, locked as long as it lives."""
SNAPSHOT_DIR = paths.snapshots()
STORE_QUOTA = int(_in_words(variables.STORE_GB.number) * 1024**3)
"""Bytes that the contents kept for undo may take, of all projects together (docs/decisions/0013)."""
RETENTION = _in_words(lambda: retention.configured(os.environ))
COPY_DIR = paths.copies()
"""Copies of the database."""
TOOL_OUTPUT_DIR = paths.tool_output()
PLAN_DIR = paths.plans()
WORKTREE_DIR = paths.worktrees()
PARKED_DIR = paths.parked()
SERVER_DIR = paths.servers()
"""Language servers that were installed by a click."""
TRUST_FILE = paths.trust()

LOGGING_CONFIG = None  # the command line sets logging up
