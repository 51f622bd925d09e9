"""Install ``hopless.consumers`` as a pytest plugin, and report at the end how often consumers called its function."""

from __future__ import annotations

from typing import Any

import pytest

counts = {"asked": 0, "hops": 0}


def counted(function: Any, name: str) -> Any:
    async def call() -> None:
        counts[name] += 1
        await function()

    return call


@pytest.hookimpl(trylast=True)
def pytest_configure() -> None:
    from channels import consumer, db
    from hopless import consumers

    db.aclose_old_connections = counted(db.aclose_old_connections, "hops")
    consumers.install()
    consumer.aclose_old_connections = counted(consumer.aclose_old_connections, "asked")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    terminalreporter.write_line(
        f"hopless: consumers called it {counts['asked']} times, and changed threads {counts['hops']} times"
    )
