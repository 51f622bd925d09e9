"""Run the benchmark of round trips for a moment."""

import re
import subprocess
import sys

from .conftest import PACKAGE


def test_round_trips_are_counted() -> None:
    program = [sys.executable, str(PACKAGE / "suites" / "benchmark.py"), "--layers", "channels_ipc", "memory"]
    options = ["--rounds", "1", "--seconds", "0.05"]
    printed = subprocess.run([*program, *options], capture_output=True, text=True, check=True, timeout=60).stdout
    for layer in ("channels_ipc", "memory"):
        assert re.search(rf"^{layer} +\d+ +[1-9][\d,]*$", printed, re.MULTILINE), printed
