"""Measure the hops, threads and CPU time of a request to Django's ASGI application and to ``hopless``.

``python packages/hopless/suites/cost.py`` calls both applications alternately in the same process, without a server,
and with the seven middleware of ``startproject``. The numbers of hops and threads are exact. The CPU time is the median
over the rounds. Behind a server, the ratio is closer to 1, because the server adds the same time to both applications.

With ``--safety``, the program also disables the safety measures one at a time, and prints their CPU time.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from pathlib import Path
from pkgutil import resolve_name
from statistics import median, quantiles
from typing import Any
from unittest import mock

sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.project.settings")
AT_ONCE = 10
PATHS = {"synchronous view": "/ok/", "asynchronous view": "/async/ok/"}


async def call_directly(self: Any, scope: Any, receive: Any, send: Any) -> None:
    from hopless.threads import RequestThread

    with RequestThread(self._threads):
        await self.handle(scope, receive, send)


def look_for_connections(self: Any) -> None:
    from hopless import private

    self.has_connections = bool(private.connections_of_thread())


# For each safety measure, the function or attribute that implements it, and a replacement that disables it.
SAFETY = {
    "agents can wrap __call__": ("hopless.handler.Handler.__call__", call_directly),
    "an outer context is used": ("hopless.private.caller_has_a_thread", lambda: False),
    "context variables end": ("hopless.handler.isolated", lambda serving: serving),
    "self-cancelled views": ("hopless.client.UntilClientGoes.view_has_cancelled", False),
    "open transactions are seen": ("hopless.threads.Worker.inspect", look_for_connections),
    "closed connections end": ("hopless.private.forget_closed_connections", lambda: None),
}


async def cpu(application: Any, path: str, requests: int, at_once: int = AT_ONCE) -> float:
    """Return the mean CPU time of a request to a path in ms."""
    from tests.conftest import ask

    async def some() -> None:
        for _ in range(requests // at_once):
            await ask(application, path)

    began = time.process_time()
    await asyncio.gather(*(some() for _ in range(at_once)))
    return (time.process_time() - began) * 1000 / (requests // at_once * at_once)


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


async def measure_safety(rounds: int, requests: int) -> None:
    """Print the CPU time of each safety measure in µs, from the 5th percentiles of requests with and without it."""
    import hopless

    application = hopless.get_asgi_application()
    paths = {**PATHS, "view with a query": "/users/"}
    print(f"\n{'CPU of safety, µs':28}" + "".join(f"{view:>20}" for view in paths))
    for measure, (name, replacement) in SAFETY.items():
        found = []
        for path in paths.values():
            spent, without = [], []
            for _ in range(rounds * requests):
                # Patch in both cases, because a patch clears caches of the interpreter.
                with mock.patch(name, resolve_name(name)):
                    spent.append(await cpu(application, path, 1, 1))
                with mock.patch(name, replacement):
                    without.append(await cpu(application, path, 1, 1))
            found.append(1000 * (quantiles(spent, n=20)[0] - quantiles(without, n=20)[0]))
        print(f"{measure:28}" + "".join(f"{one:>20.1f}" for one in found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--requests", type=int, default=200, help=f"requests per round, {AT_ONCE} at a time")
    parser.add_argument("--safety", action="store_true", help="also measure the CPU time of each safety measure")
    options = parser.parse_args()
    asyncio.run(measure(options.rounds, options.requests))
    if options.safety:
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        asyncio.run(measure_safety(options.rounds, options.requests))


if __name__ == "__main__":
    main()
