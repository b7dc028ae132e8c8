"""What a language server asks for and tells by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from agents.children.tail import Tail
from agents.lsp.client.abilities import Abilities
from agents.lsp.client.handshake import folders
from agents.lsp.client.problems import Problems
from agents.lsp.client.progress import Progress

_LEVELS = {1: "error", 2: "warning", 3: "info"}
_MAX_LINES = 20

Handler = Callable[[Any], Any]


class Answers:
    """`refresh` is called when the server wants its diagnostics to be asked for again."""

    def __init__(
        self, root: Path, settings: Mapping[str, Any], log: Tail, refresh: Callable[[], object]
    ) -> None:
        self._root = root
        self._settings = settings
        self._log = log
        self._refresh = refresh

    def handlers(self, abilities: Abilities, problems: Problems, progress: Progress) -> dict[str, Handler]:
        """By method. What a client may leave unanswered is not here: the server is told so."""
        refreshes = ("semanticTokens", "inlayHint", "inlineValue", "codeLens", "foldingRange")
        return {
            "client/registerCapability": abilities.register,
            "client/unregisterCapability": abilities.unregister,
            "workspace/configuration": self._configuration,
            "workspace/workspaceFolders": lambda _: folders(self._root),
            "workspace/applyEdit": self._edit,
            "workspace/diagnostic/refresh": lambda _: void(self._refresh()),
            **{f"workspace/{name}/refresh": void for name in refreshes},
            "window/showMessage": self._say,
            "window/logMessage": self._say,
            "window/showMessageRequest": self._say,
            "window/showDocument": lambda _: {"success": False},
            "window/workDoneProgress/create": void,
            "$/progress": progress.report,
            "$/logTrace": void,
            "telemetry/event": void,
            "textDocument/publishDiagnostics": problems.push,
        }

    def _configuration(self, params: Any) -> list[Any]:
        """ConfigurationParams: a section is a path into the settings, or all of them."""
        return [section(self._settings, item.get("section")) for item in params["items"]]

    def _edit(self, params: Any) -> dict[str, Any]:
        """Nobody here has a server do something to files: what it wants to change by itself is refused."""
        label = str(params.get("label") or "an edit")[:200]
        self._log.say(f"[refused] {label}: files are changed by the agent only")
        return {"applied": False, "failureReason": "this client asked for no edit"}

    def _say(self, params: Any) -> None:
        level = _LEVELS.get(params.get("type"), "log")
        for line in str(params.get("message")).splitlines()[:_MAX_LINES]:
            self._log.say(f"[{level}] {line}")


def section(settings: Mapping[str, Any], name: Any) -> Any:
    """What the settings have under a name as `yaml.schemas`; None where they have nothing."""
    found: Any = settings
    for part in str(name).split(".") if name else ():
        if not isinstance(found, Mapping) or part not in found:
            return None
        found = found[part]
    return found


def void(_: object = None) -> None:
    """Nothing to do, and nothing to answer."""
