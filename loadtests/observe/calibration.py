"""Measure the machine's speed with the calibration loop: a fixed amount of work that resembles serving Django."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence

from loadtests.observe.cores import pinned

ROUNDS = 2000  # about a tenth of a second
HEADERS = {f"X-Header-{number}": f"value {number}" for number in range(20)}
LINE = re.compile(r"([^:]+):\s*(.*)")


def calibrate(core: int) -> float:
    """Run the calibration loop on a core and return the elapsed seconds, including time that other programs used."""
    with pinned(core):
        begun = time.perf_counter()
        for _ in range(ROUNDS):
            _work()
        return time.perf_counter() - begun


def _work() -> int:
    """Parse and write text, use dictionaries and regular expressions, and call functions, as a request does."""
    lines = [f"{name}: {value}" for name, value in HEADERS.items()]
    parsed = {match[1]: match[2] for line in lines if (match := LINE.match(line))}
    text = json.dumps({"headers": parsed, "path": "/".join(sorted(parsed))})
    return len(json.loads(text)["headers"])


def spread(seconds: Sequence[float]) -> tuple[float, float]:
    """Return the lowest and the highest speed relative to the median speed. 0.8 means a fifth slower than usual."""
    ordered = sorted(seconds)
    median = ordered[len(ordered) // 2]
    return median / ordered[-1], median / ordered[0]
