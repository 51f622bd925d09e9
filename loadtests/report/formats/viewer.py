"""Opens a page in the browser of this machine: ``report RUN --open``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PATIENCE_S = 3.0  # a browser that has not failed by then is showing the page

# In a subprocess, because webbrowser waits for some browsers and lets others write into the terminal.
OPEN = "import sys, webbrowser; sys.exit(not webbrowser.open(sys.argv[1]))"


def show(page: Path, patience_s: float = PATIENCE_S) -> str:
    """Opens the page in ``BROWSER`` or the desktop's browser, waiting at most ``patience_s``; returns the outcome."""
    if not _has_display():
        return f"There is no display to open a browser on (nor is BROWSER set); the page is {page.resolve()}"
    command = [sys.executable, "-c", OPEN, page.resolve().as_uri()]
    environment = {name: value for name, value in os.environ.items() if name != "TERM"}  # no browser in the terminal
    quiet = subprocess.DEVNULL
    try:
        # On time-out the subprocess is killed; the browser, in its own session, stays.
        done = subprocess.run(
            command,
            env=environment,
            stdin=quiet,
            stdout=quiet,
            stderr=quiet,
            timeout=patience_s,
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        return f"Opened {page.resolve()}"
    if done.returncode:
        tried = "BROWSER" if os.environ.get("BROWSER") else "the desktop's; BROWSER names another"
        return f"No browser could be started (tried {tried}); the page is {page.resolve()}"
    return f"Opened {page.resolve()}"


def _has_display() -> bool:
    """Whether a browser has a display. Otherwise a text browser might start unseen."""
    return sys.platform == "darwin" or any(map(os.environ.get, ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")))
