"""A `systemctl --user` that starts and ends the one service there is, as its unit and its environment say."""

from __future__ import annotations

import os
import select
import shlex
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

PID = "pid"


def main(arguments: list[str]) -> int:
    folder = Path(os.environ["FAKE_SYSTEMCTL"])
    with (folder / "calls").open("a") as calls:
        calls.write(f"{' '.join(arguments)}\n")
    if "restart" in arguments:
        (folder / PID).write_text(str(start()))
    elif "disable" in arguments:
        end(int((folder / PID).read_text()))
    return 0


def start() -> int:
    unit = Path(os.environ["HOME"]) / ".config" / "systemd" / "user" / "opencode-web.service"
    said = dict(line.split("=", 1) for line in unit.read_text().splitlines() if "=" in line)
    lines = Path(said["EnvironmentFile"]).read_text().splitlines()
    environ = {name: shlex.split(value)[0] for name, value in (line.split("=", 1) for line in lines)}
    kept = {name: os.environ[name] for name in ("HOME", "PYTHONPATH")}
    command = shlex.split(said["ExecStart"].replace("%%", "%").replace("$$", "$"))
    nowhere, environ = subprocess.DEVNULL, {**kept, **environ}
    return subprocess.Popen(
        command, env=environ, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True
    ).pid


def end(pid: int) -> None:
    """It is not ours to wait for, but its end can be seen."""
    with suppress(ProcessLookupError):
        seen = os.pidfd_open(pid)
        signal.pidfd_send_signal(seen, signal.SIGTERM)
        select.select([seen], [], [])
        os.close(seen)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
