"""`python -m opencode_web` is `opencode-web`."""

import sys

from opencode_web.cli import main

sys.exit(main())
