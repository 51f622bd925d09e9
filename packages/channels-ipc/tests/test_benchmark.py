"""Test that the benchmark prints a table. The measurements are very short."""

import re
import subprocess
import sys

from .conftest import PACKAGE


def test_benchmark_prints_all_figures() -> None:
    program = [sys.executable, str(PACKAGE / "suites" / "benchmark.py"), "--layers", "channels_ipc"]
    options = ["--rounds", "1", "--seconds", "0.05"]
    printed = subprocess.run([*program, *options], capture_output=True, text=True, check=True, timeout=60).stdout
    rows = printed.splitlines()[2:]
    assert len(rows) == 4
    for row in rows:
        assert re.search(r"\| [1-9][\d,]* \([\d,]+ to [\d,]+\) \|$", row), printed
