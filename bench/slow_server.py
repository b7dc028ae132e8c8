"""An MCP server over stdio that takes as many seconds to start as its argument says, and has one tool.

Run by path; it needs nothing but the standard library, so that starting it costs next to no CPU.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

TOOL = {"name": "wait", "description": "", "inputSchema": {"type": "object"}}


def result(method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        information = {"name": "slow", "version": "1"}
        version = params["protocolVersion"]
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": information}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": "Waited."}]}
    return {"tools": [TOOL]} if method == "tools/list" else {}


def main() -> None:
    time.sleep(float(sys.argv[1]))
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            answer = result(message["method"], message.get("params", {}))
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer}), flush=True)


if __name__ == "__main__":
    main()
