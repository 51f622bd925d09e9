"""Measure the hops, threads and CPU time of a request in Django's ASGI application and in ``hopless``.

``python packages/hopless/suites/cost.py`` calls both in one process, without a server, interleaved, with the seven
middleware of ``startproject``. The numbers of hops and threads are exact. The CPU time is the median of the rounds. A
server adds the same time to both, so the ratio is closer to 1 behind a server.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.project.settings")
AT_ONCE = 10
PATHS = {"synchronous view": "/ok/", "asynchronous view": "/async/ok/"}


async def cpu(application: Any, path: str, requests: int) -> float:
    """Return the CPU time of a request in ms."""
    from tests.conftest import ask

    async def some() -> None:
        for _ in range(requests // AT_ONCE):
            await ask(application, path)

    began = time.process_time()
    await asyncio.gather(*(some() for _ in range(AT_ONCE)))
    return (time.process_time() - began) * 1000 / (requests // AT_ONCE * AT_ONCE)


async def measure(rounds: int, requests: int) -> None:
    import hopless
    from django.core.asgi import get_asgi_application
    from tests.counting import counted

    from tests.conftest import ask

    applications = {"stock": get_asgi_application(), "hopless": hopless.get_asgi_application()}
    print(f"{'':20}{'hops':>16}{'threads':>16}{'CPU, ms':>20}{'ratio':>7}")
    for view, path in PATHS.items():
        counts, spent = {}, {name: [] for name in applications}
        for name, application in applications.items():
            await cpu(application, path, 100)
            with counted() as counts[name]:
                await ask(application, path)
        for _ in range(rounds):
            for name, application in applications.items():
                spent[name].append(await cpu(application, path, requests))
        stock, ours = (median(spent[name]) for name in applications)
        hops, threads = (" → ".join(str(getattr(one, what)) for one in counts.values()) for what in ("hops", "threads"))
        print(f"{view:20}{hops:>16}{threads:>16}{f'{stock:.3f} → {ours:.3f}':>20}{ours / stock:>7.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--requests", type=int, default=200, help=f"in a round, {AT_ONCE} at once")
    options = parser.parse_args()
    asyncio.run(measure(options.rounds, options.requests))


if __name__ == "__main__":
    main()
