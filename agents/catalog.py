"""Which models there are for a folder: configured, by key, signed in, found on loopback, or the demo."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import Any

from agents.configuration import load
from agents.llm import discovery
from agents.llm.auth import read_keys
from agents.llm.providers import Provider, UnknownModel, find_model, pick_default, pick_small, resolve
from agents.llm.types import Model
from sessions.models import Session
