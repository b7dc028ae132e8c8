"""Where Chromium is on this machine, and by which command line it starts for an agent."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from sessions.core import paths, variables

NAMES = (
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"),
    *("microsoft-edge", "microsoft-edge-stable", "chromium-headless-shell"),
)
_APPLICATIONS = ("Google Chrome", "Chromium", "Microsoft Edge")
"""Of macOS."""
_DOWNLOADS = (
    *("ms-playwright/chromium-*/chrome-linux*/chrome", "ms-playwright/chromium-*/chrome-mac*/*.app"),
    *("ms-playwright/chromium_headless_shell-*/*/headless_shell",),
    *("ms-playwright/chromium_headless_shell-*/*/chrome-headless-shell",),
    *("puppeteer/chrome/*/*/chrome", "puppeteer/chrome/*/*/*.app"),
)
"""Below the folder of caches: what Playwright and Puppeteer have fetched."""
_CONFINED = "/snap/"
"""Programs of snap see no folder of ours."""
NONE = (
    "There is no Chromium here. It is a package of most systems (`chromium`); Google Chrome and Microsoft "
    "Edge will do, and so will what `npx playwright install chromium` fetches; "
    f"{variables.CHROMIUM.name} names one that is elsewhere."
)
FLAGS = (
    *("--headless=new", "--remote-debugging-pipe", "--no-startup-window", "--no-first-run"),
    *("--no-default-browser-check", "--no-pings", "--no-service-autorun", "--mute-audio"),
    "--hide-scrollbars",
    *("--disable-extensions", "--disable-sync", "--disable-default-apps", "--disable-component-update"),
    *("--disable-background-networking", "--disable-breakpad", "--disable-crash-reporter", "--disable-gpu"),
    *("--disable-dev-shm-usage", "--disable-domain-reliability", "--metrics-recording-only"),
    *("--disable-background-timer-throttling", "--disable-renderer-backgrounding"),
    "--disable-features=Translate,OptimizationHints,MediaRouter,AutofillServerCommunication",
    *("--password-store=basic", "--use-mock-keychain", "--disable-quic"),
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",  # else it goes around the proxy
)
_ALL = "--proxy-bypass-list=<-loopback>"
"""By itself Chromium goes around a proxy to the loopback, and to link-local addresses."""
_BUT_LOOPBACK = f"{_ALL};localhost;*.localhost;127.0.0.1;[::1]"
_VARIABLES = ("PATH", "HOME", "LANG", "LANGUAGE", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "FONTCONFIG_FILE")
"""Of the environment what it needs. No key is among it."""
_LINE = 'in=$1 out=$2; shift 2; exec "$@" 3<"$in" 4>"$out"'
"""Chromium reads commands from descriptor 3 and answers on 4."""


class NoChromium(Exception):
    """There is none; the text is for people and for the model, and says how to get one."""


def found(environ: Mapping[str, str] = os.environ) -> str:
    """The path of the program. Raises NoChromium. Blocks."""
    if named := variables.CHROMIUM.read(environ):
        if (path := shutil.which(named, path=environ.get("PATH"))) is None:
            raise NoChromium(f"{variables.CHROMIUM.name} names {named}, which is no program.")
        return path
    for path in _candidates(environ):
        if not os.path.realpath(path).startswith(_CONFINED) and not path.startswith(_CONFINED):
            return path
    raise NoChromium(NONE)


def _candidates(environ: Mapping[str, str]) -> Iterator[str]:
    home = paths.home(environ)
    named = (shutil.which(name, path=environ.get("PATH")) for name in NAMES)
    yield from filter(None, named)
    for folder in (Path("/Applications"), home / "Applications"):
        yield from filter(None, (_inside(folder / f"{name}.app") for name in _APPLICATIONS))
    for caches in (home / ".cache", home / "Library/Caches"):
        for pattern in _DOWNLOADS:
            newest_first = sorted(caches.glob(pattern), reverse=True)
            yield from filter(None, map(_inside, newest_first))


def _inside(path: Path) -> str:
    """The program itself, of an application of macOS too; empty where it cannot be run."""
    program = path / "Contents/MacOS" / path.stem if path.suffix == ".app" else path
    return str(program) if program.is_file() and os.access(program, os.X_OK) else ""


def command(
    program: str, profile: Path, pipes: Sequence[Path], proxy: str, *, confined: bool, own_sandbox: bool
) -> list[str]:
    """`pipes` are those that it reads from and writes to. `proxy` is the way out, empty for none; `confined`,
    its loopback is that of the sandbox, which it reaches without. `own_sandbox`: its processes confine each
    other, for which they need namespaces that root and what is confined do not get."""
    ways = ["--no-proxy-server"]
    if proxy:
        place = urlsplit(proxy)
        ways = [f"--proxy-server=http://{place.hostname}:{place.port}", _BUT_LOOPBACK if confined else _ALL]
    return [
        *("/bin/sh", "-c", _LINE, "browser", *map(str, pipes), program),
        *(*FLAGS, f"--user-data-dir={profile}", *ways),
        *([] if own_sandbox else ["--no-sandbox"]),
    ]


def environment(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """What it finds in its environment."""
    return {name: environ[name] for name in _VARIABLES if name in environ}
