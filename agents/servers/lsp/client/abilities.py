"""What a language server can do: as it said at the beginning, and what it registered since."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from agents.servers.lsp.client.encoding import known, uri_of

PULL = "textDocument/diagnostic"
WATCH = "workspace/didChangeWatchedFiles"
_INCREMENTAL = 2

_PROVIDERS = {
    "textDocument/hover": "hoverProvider",
    "textDocument/definition": "definitionProvider",
    "textDocument/declaration": "declarationProvider",
    "textDocument/typeDefinition": "typeDefinitionProvider",
    "textDocument/references": "referencesProvider",
    "textDocument/implementation": "implementationProvider",
    "textDocument/documentSymbol": "documentSymbolProvider",
    "textDocument/completion": "completionProvider",
    "textDocument/formatting": "documentFormattingProvider",
    "textDocument/rename": "renameProvider",
    "workspace/symbol": "workspaceSymbolProvider",
    "textDocument/prepareCallHierarchy": "callHierarchyProvider",
    "callHierarchy/incomingCalls": "callHierarchyProvider",
    "callHierarchy/outgoingCalls": "callHierarchyProvider",
    PULL: "diagnosticProvider",
}
_REGISTERED_AS = {
    "callHierarchy/incomingCalls": "textDocument/prepareCallHierarchy",
    "callHierarchy/outgoingCalls": "textDocument/prepareCallHierarchy",
}


class Abilities:
    """`changed` is called with the method of what is registered, or is no longer."""

    def __init__(self) -> None:
        self.stated: dict[str, Any] = {}
        """ServerCapabilities, as the server gave them."""
        self.changed: list[Callable[[str], None]] = []
        self._registered: dict[str, tuple[str, dict[str, Any]]] = {}

    def state(self, result: Any) -> None:
        """Take in the answer to `initialize`."""
        found = result.get("capabilities") if isinstance(result, dict) else None
        self.stated = found if isinstance(found, dict) else {}

    def register(self, params: Any) -> None:
        """RegistrationParams. Raises KeyError, TypeError."""
        for item in params["registrations"]:
            method = str(item["method"])
            options = item.get("registerOptions")
            self._registered[str(item["id"])] = method, options if isinstance(options, dict) else {}
            self._tell(method)

    def unregister(self, params: Any) -> None:
        """UnregistrationParams, with the protocol's own slip of the pen. Raises KeyError, TypeError."""
        for item in params["unregisterations"]:
            method, _ = self._registered.pop(str(item["id"]), ("", {}))
            self._tell(method)

    def can(self, method: str) -> bool:
        return bool(self.options(method))

    def options(self, method: str) -> list[dict[str, Any]]:
        """The options of each provider of a method; none when the server does not do it."""
        stated = self.stated.get(_PROVIDERS.get(method, ""))
        wanted = _REGISTERED_AS.get(method, method)
        registered = [options for name, options in self._registered.values() if name == wanted]
        if stated is None or stated is False:
            return registered
        return [stated if isinstance(stated, dict) else {}, *registered]

    @property
    def encoding(self) -> str:
        return known(self.stated.get("positionEncoding"))

    @property
    def wants_open(self) -> bool:
        sync = self._sync()
        return sync is None or bool(sync.get("openClose"))

    @property
    def wants_changes(self) -> bool:
        sync = self._sync()
        return sync is None or bool(sync.get("change"))

    @property
    def incremental(self) -> bool:
        return (self._sync() or {}).get("change") == _INCREMENTAL

    def save_options(self) -> dict[str, Any] | None:
        """None when the server does not want to know of it."""
        save = (self._sync() or {}).get("save")
        if isinstance(save, dict):
            return save
        registered = self.options("textDocument/didSave")
        return registered[0] if registered else {} if save else None

    def _sync(self) -> dict[str, Any] | None:
        """TextDocumentSyncOptions; None for a server that says nothing of it, and may register it."""
        stated = self.stated.get("textDocumentSync")
        if isinstance(stated, dict):
            return stated
        return {"openClose": stated > 0, "change": stated, "save": {}} if isinstance(stated, int) else None

    def _tell(self, method: str) -> None:
        for function in self.changed:
            function(method)


_DYNAMIC = {"dynamicRegistration": True}
_LINKS = {"dynamicRegistration": True, "linkSupport": True}
_ALL_KINDS = {"valueSet": list(range(1, 27))}

CAPABILITIES: dict[str, Any] = {
    "general": {
        "positionEncodings": ["utf-16"],
        "staleRequestSupport": {
            "cancel": True,
            "retryOnContentModified": ["textDocument/diagnostic", "workspace/symbol"],
        },
    },
    "window": {
        "workDoneProgress": True,
        "showMessage": {"messageActionItem": {"additionalPropertiesSupport": False}},
        "showDocument": {"support": False},
    },
    "workspace": {
        "applyEdit": False,
        "workspaceEdit": {"documentChanges": True},
        "configuration": True,
        "workspaceFolders": True,
        "didChangeConfiguration": _DYNAMIC,
        "didChangeWatchedFiles": {"dynamicRegistration": True, "relativePatternSupport": True},
        "symbol": {"dynamicRegistration": True, "symbolKind": _ALL_KINDS},
        "diagnostics": {"refreshSupport": True},
    },
    "textDocument": {
        "synchronization": {"dynamicRegistration": True, "didSave": True},
        "publishDiagnostics": {"versionSupport": True, "codeDescriptionSupport": True},
        "diagnostic": {"dynamicRegistration": True, "relatedDocumentSupport": True},
        "hover": {"dynamicRegistration": True, "contentFormat": ["markdown", "plaintext"]},
        "definition": _LINKS,
        "declaration": _LINKS,
        "typeDefinition": _LINKS,
        "implementation": _LINKS,
        "references": _DYNAMIC,
        "documentSymbol": {
            "dynamicRegistration": True,
            "symbolKind": _ALL_KINDS,
            "hierarchicalDocumentSymbolSupport": True,
        },
        "callHierarchy": _DYNAMIC,
        "completion": {
            "dynamicRegistration": True,
            "completionItem": {"snippetSupport": False, "insertReplaceSupport": False},
            "contextSupport": False,
        },
        "formatting": _DYNAMIC,
        "rename": {"dynamicRegistration": True, "prepareSupport": False},
    },
}
"""What this client does, and nothing else."""


def greeting(root: Path, initialization: Mapping[str, Any], *, confined: bool = False) -> dict[str, Any]:
    """InitializeParams for a project's folder; `initialization` is the server's own business. Who is
    `confined` does not see this process, and would end as if it had."""
    return {
        "processId": None if confined else os.getpid(),
        "clientInfo": {"name": "opencode-web"},
        "rootPath": str(root),
        "rootUri": uri_of(root),
        "workspaceFolders": folders(root),
        "initializationOptions": dict(initialization),
        "capabilities": CAPABILITIES,
        "trace": "off",
    }


def folders(root: Path) -> list[dict[str, str]]:
    return [{"uri": uri_of(root), "name": root.name or str(root)}]
