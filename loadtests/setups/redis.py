"""Find the redis-server that supervisor/redis.sh starts if REDIS_URL isn't set."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from urllib.parse import urlsplit

from loadtests.setups import environment

PORT = 6379  # default port if a URL contains no port
CONNECT_S = 3.0


def executable() -> str | None:
    """Return the path of the system's redis-server, or of the copy that `make setup` installs next to Python."""
    bundled = str(environment.own_bin())
    system = [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if folder != bundled]
    return shutil.which("redis-server", path=os.pathsep.join([*system, bundled]))


def version() -> str | None:
    """Return the version of redis-server, such as ``6.2.14``, or None if it isn't installed."""
    binary = executable()
    if binary is None:
        return None
    output = subprocess.run([binary, "--version"], capture_output=True, text=True, check=False).stdout
    return next((word.removeprefix("v=") for word in output.split() if word.startswith("v=")), None)


def refusal(url: str) -> str | None:
    """Return why Redis can't be reached at this URL, or None if it can."""
    parts = urlsplit(url)
    try:
        if parts.scheme == "unix":
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(CONNECT_S)
                connection.connect(parts.path)
        else:
            socket.create_connection((parts.hostname or "", parts.port or PORT), CONNECT_S).close()
    except OSError as error:
        return error.strerror or str(error)
    return None
