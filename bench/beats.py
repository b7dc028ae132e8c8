"""Nodes that do nothing but say that they live, each by a thread and a connection of its own, until its input
ends: `python -m bench.beats N`, with the environment of a node whose team has its tables."""

from __future__ import annotations

import os
import sys


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "opencode_web.settings"
    import django

    django.setup()
    from opencode_web.nodes import registry
    from opencode_web.nodes.heartbeat import Heartbeat

    hearts = []
    for number in range(int(sys.argv[1])):
        member = registry.join(f"beat-{number}", "http://127.0.0.1:1")
        hearts.append(Heartbeat(member, lambda: {"turns": 0}))
    for heart in hearts:
        heart.start()
    print("beating", flush=True)
    sys.stdin.read()
    for heart in hearts:
        heart.stop()


if __name__ == "__main__":
    main()
