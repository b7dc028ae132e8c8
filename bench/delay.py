"""A way to a Unix socket that takes its time: `python -m bench.delay SOCKET MILLISECONDS`, half of them in
each direction. It says where it listens."""

from __future__ import annotations

import socket
import sys
import threading
import time

_CHUNK = 1 << 20


def main() -> None:
    path, seconds = sys.argv[1], float(sys.argv[2]) / 2000
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
        while True:
            near, _ = listener.accept()
            near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            far = socket.socket(socket.AF_UNIX)
            far.connect(path)
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=_carry, args=(one, other, seconds), daemon=True).start()


def _carry(one: socket.socket, other: socket.socket, seconds: float) -> None:
    """A thread sleeps to a twentieth of a millisecond, an event loop to a whole one."""
    try:
        while data := one.recv(_CHUNK):
            time.sleep(seconds)
            other.sendall(data)
        other.shutdown(socket.SHUT_WR)
    except OSError:
        other.close()


if __name__ == "__main__":
    main()
