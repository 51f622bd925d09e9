"""Measure the CPU time and the changes of thread that an asynchronous consumer needs to handle a message.

``python measure.py STOCK PATCHED [ROUNDS]``: STOCK and PATCHED are folders that contain a package ``channels``. Each
round measures both packages.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import time

MESSAGES = 5_000


def one() -> None:
    """Measure the package ``channels`` on PYTHONPATH: print the microseconds of CPU time and the hops per message."""
    from django.conf import settings

    settings.configure(DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}})
    from channels import db
    from channels.consumer import AsyncConsumer

    hops = 0
    close = db.close_old_connections

    def counted() -> None:
        nonlocal hops
        hops += 1
        close()

    db.close_old_connections = counted

    class Echo(AsyncConsumer):
        async def echo(self, message: object) -> None:
            pass

    async def main() -> float:
        consumer = Echo()
        await consumer.dispatch({"type": "echo"})
        begin = time.process_time()
        for _ in range(MESSAGES):
            await consumer.dispatch({"type": "echo"})
        return time.process_time() - begin

    print(asyncio.run(main()) / MESSAGES * 1e6, hops / (MESSAGES + 1))


def main(stock: str, patched: str, rounds: str = "5") -> None:
    found: dict[str, list[tuple[float, float]]] = {stock: [], patched: []}
    for _ in range(int(rounds)):
        for folder, figures in found.items():
            environment = {**os.environ, "PYTHONPATH": folder}
            printed = subprocess.check_output([sys.executable, __file__], env=environment, text=True)
            cpu, hops = map(float, printed.split())
            figures.append((cpu, hops))
    for name, folder in (("stock", stock), ("patched", patched)):
        cpu, hops = (statistics.median(column) for column in zip(*found[folder], strict=True))
        print(f"{name}: {cpu:.1f} µs of CPU time and {hops:g} hops per message (median of {rounds} rounds)")


if __name__ == "__main__":
    main(*sys.argv[1:]) if sys.argv[1:] else one()
