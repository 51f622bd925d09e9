"""Provide origins over real sockets in the test's process."""

import asyncio

import pytest
import uvloop

from tests.fixtures.origins import origin


@pytest.fixture
def play():
    """Return a function that starts an origin with recipes, runs a coroutine with it, and returns the result."""

    def run(recipes, talk, **options):
        async def main():
            async with origin(recipes, **options) as listening:
                return await asyncio.wait_for(talk(listening), 30)

        return uvloop.run(main())

    return run


@pytest.fixture
def ask(play):
    """Return a function that sends requests over one connection to an origin and returns the answers.

    A request is a path, or a path with a method, headers and body. An answer consists of status, headers and body.
    """

    def ask(recipes, *requests):
        async def talk(origin):
            async with origin.client() as client:
                return [await client.ask(*request) for request in requests]

        return play(recipes, talk)

    return ask
