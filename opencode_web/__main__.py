"""`python -m opencode_web` is `opencode-web`."""

import os
import sys
from contextlib import suppress

from opencode_web.locate import root

# `-m` has modules looked for where it was started: that may be a project that has some by the names of ours.
with suppress(FileNotFoundError):  # a folder that is gone
    if os.getcwd() != str(root()):
        sys.path[:] = [place for place in sys.path if place not in ("", os.getcwd())]

from opencode_web.cli import main

sys.exit(main())
