"""What a language server is told of us first (LSP 3.17, "Initialize Request")."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agents.lsp.client.wire.places import uri_of

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
    },
}
"""What this client does, and nothing else."""


def greeting(root: Path, initialization: Mapping[str, Any]) -> dict[str, Any]:
    """InitializeParams for a project's folder; `initialization` is the server's own business."""
    return {
        "processId": os.getpid(),
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
