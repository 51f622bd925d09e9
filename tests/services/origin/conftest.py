"""Origins over real sockets, within the test's own process."""

import asyncio

import pytest
import uvloop

from tests.fixtures.origins import origin


@pytest.fixture
def play():
    """A function: has a coroutine talk to an origin that plays recipes, and gives what it returns."""

    def run(recipes, talk, **options):
        async def main():
            async with origin(recipes, **options) as listening:
                return await asyncio.wait_for(talk(listening), 30)

        return uvloop.run(main())

    return run


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()
