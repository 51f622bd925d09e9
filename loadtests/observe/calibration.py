"""The calibration loop: how long a fixed piece of work takes now, of the kind that serving Django is."""

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
    """Does the work on a core, and returns the seconds that went by, those included in which others had the core."""
    with pinned(core):
        begun = time.perf_counter()
        for _ in range(ROUNDS):
            _work()
        return time.perf_counter() - begun


def _work() -> int:
    """Text into objects and back, dictionaries, regular expressions, calls: what a request is made of."""
    lines = [f"{name}: {value}" for name, value in HEADERS.items()]
    parsed = {match[1]: match[2] for line in lines if (match := LINE.match(line))}
    text = json.dumps({"headers": parsed, "path": "/".join(sorted(parsed))})
    return len(json.loads(text)["headers"])


def spread(seconds: Sequence[float]) -> tuple[float, float]:
    """The lowest and the highest speed, relative to the median: 0.8 is a fifth slower than usual."""
    ordered = sorted(seconds)
    median = ordered[len(ordered) // 2]
    return median / ordered[-1], median / ordered[0]
