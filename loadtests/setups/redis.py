"""The redis-server that supervisor/redis.sh starts where REDIS_URL names none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path


def executable() -> str | None:
    """The system's redis-server, or the one that `make setup` put next to Python."""
    bundled = str(Path(sys.executable).parent)
    system = [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if folder != bundled]
    return shutil.which("redis-server", path=os.pathsep.join([*system, bundled]))


def version() -> str | None:
    """Its version, such as ``6.2.14``."""
    binary = executable()
    if binary is None:
        return None
    output = subprocess.run([binary, "--version"], capture_output=True, text=True, check=False).stdout
    return next((word.removeprefix("v=") for word in output.split() if word.startswith("v=")), None)
