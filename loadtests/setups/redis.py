"""The redis-server that this project starts where REDIS_URL names none, found as supervisor/redis.sh finds it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path


def executable() -> str | None:
    """The system's redis-server, or else the one that `make setup` put beside Python; None where there is neither."""
    beside = Path(sys.executable).parent
    elsewhere = [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if Path(folder) != beside]
    return shutil.which("redis-server", path=os.pathsep.join(elsewhere)) or shutil.which(
        "redis-server", path=str(beside)
    )


def version() -> str | None:
    """Its version, such as ``6.2.14``; None where there is none."""
    binary = executable()
    if binary is None:
        return None
    said = subprocess.run([binary, "--version"], capture_output=True, text=True, check=False).stdout
    return next((word.removeprefix("v=") for word in said.split() if word.startswith("v=")), None)
