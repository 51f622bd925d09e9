"""How fast the machine is at this moment: how long a fixed piece of work takes, of the kind that serving Django is."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence

from loadtests.observe.cores import pinned

TURNS = 2000  # about a tenth of a second
HEADERS = {f"X-Header-{number}": f"value {number}" for number in range(20)}
LINE = re.compile(r"([^:]+):\s*(.*)")


def spin(core: int) -> float:
    """Does the work on a core, and returns the seconds that went by: those in which others had the core too."""
    with pinned(core):
        begun = time.perf_counter()
        for _ in range(TURNS):
            _work()
        return time.perf_counter() - begun


def _work() -> int:
    """Text into objects and back, dictionaries, regular expressions, calls: what a request is made of."""
    lines = [f"{name}: {value}" for name, value in HEADERS.items()]
    parsed = {match[1]: match[2] for line in lines if (match := LINE.match(line))}
    text = json.dumps({"headers": parsed, "path": "/".join(sorted(parsed))})
    return len(json.loads(text)["headers"])


def spread(seconds: Sequence[float]) -> tuple[float, float]:
    """The least and the most of some spins, as shares of the median speed: 0.8 is a fifth slower than usual."""
    ordered = sorted(seconds)
    usual = ordered[len(ordered) // 2]
    return usual / ordered[-1], usual / ordered[0]
