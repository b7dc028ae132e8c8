"""Lines of the shell by which a command of the agent's connects to the server."""

_CLIENT = '"$PYTHON" -c "$CONNECT" "$PORT"'
_CLEAN = 'env -i "$PYTHON" -c "$CONNECT" "$PORT"'
_HIDDEN = "import ctypes, os, sys; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0); exec(os.environ['CONNECT'])"

DISGUISES = (
    _CLIENT,
    f"exec {_CLIENT}",
    f"{_CLEAN}; true",
    f"exec {_CLEAN}",
    f"({_CLIENT} &) ; sleep 1",
    f"setsid {_CLIENT}",
    f"setsid {_CLEAN}; true",
    f"nohup {_CLIENT} >/dev/null 2>&1 & wait",
    f"(setsid {_CLIENT} >/dev/null 2>&1 &)",
    f"exec -a sshd {_CLIENT}",
    f"unset OPENCODE_WEB_AGENT; {_CLIENT}; true",
    f"export OPENCODE_WEB_AGENT=; {_CLIENT}; true",
    f"{_CLIENT.replace('$CONNECT', '$CONNECT')} | cat",
    f'"$PYTHON" -c "{_HIDDEN}" "$PORT"; true',
    "exec 3<>/dev/tcp/127.0.0.1/$PORT; printf x >&3; read -r -n 1 <&3",
)

INNOCENT = (
    f"exec {_CLIENT}",
    _CLEAN,
    f"setsid {_CLIENT}",
)
"""The same, of the user's."""
