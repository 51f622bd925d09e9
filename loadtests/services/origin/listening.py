"""Run an origin on a port of the loopback interface."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import resource
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path

import uvloop

from loadtests import files
from loadtests.errors import UserError, require_within
from loadtests.services.origin.admin import Desk, stocked
from loadtests.services.origin.counts import Counts
from loadtests.services.origin.player import Player
from loadtests.services.origin.protocol import OriginConnection, Shared
from loadtests.services.origin.recipes import Recipe

ADDRESS = "127.0.0.1"
BACKLOG = 4096
MAX_OPEN_FILES = 2**20
SPARE_FILES = 64  # the number of open files that aren't connections
# The number of turns that the event loop runs before the origin ends. More than one turn is needed, because a new
# connection appears one turn after it was accepted, and its abort needs another turn.
LAST_TURNS = 5
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def serve(recipes: Sequence[Recipe], port: int, url_file: Path | None, say: Callable[[str], None]) -> None:
    """Play recipes on a port of 127.0.0.1 until a signal stops the origin, and then raise KeyboardInterrupt.

    Port 0 selects a free port.

    Args:
        recipes: The recipes to play.
        port: The port to listen on.
        url_file: A file that contains the URL while the origin listens.
        say: Prints a line with the URL.

    Raises:
        UserError: If the origin can't start.
    """
    loop = uvloop.new_event_loop()
    try:
        task = loop.create_task(_serve(recipes, port, url_file, say))
        for number in STOPS:
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores SIGHUP
                loop.add_signal_handler(number, task.cancel)
        loop.run_until_complete(task)
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
    finally:
        loop.close()


@contextlib.asynccontextmanager
async def listening(recipes: Sequence[Recipe], port: int = 0, most_open: int | None = None) -> AsyncIterator[str]:
    """Run an origin on a port of 127.0.0.1, and yield its URL. Close everything at the end.

    Args:
        recipes: The recipes to play.
        port: The port to listen on. Port 0 selects a free port.
        most_open: The maximum number of connections. The default is the limit of open files.

    Raises:
        UserError: If the origin can't start.
    """
    if most_open is None:
        most_open = open_files() - SPARE_FILES
    with contextlib.closing(_bound(port)) as bound:
        port = bound.getsockname()[1]
        bodies = stocked(recipes)  # the recipes' clock starts only after all bodies are available
        player = Player()
        player.start(bodies)
        counts = Counts(player.clock)
        shared = Shared(player, counts, Desk(player, counts), most_open)
        try:
            server = await asyncio.get_running_loop().create_server(
                lambda: OriginConnection(shared), sock=bound, backlog=BACKLOG
            )
        except OSError as error:
            raise _cannot_listen(port, error) from None
        try:
            yield f"http://{ADDRESS}:{port}"
        finally:
            server.close()
            for _ in range(LAST_TURNS):
                for connection in list(shared.open):
                    connection.abort()
                await asyncio.sleep(0)


async def _serve(recipes: Sequence[Recipe], port: int, url_file: Path | None, say: Callable[[str], None]) -> None:
    async with listening(recipes, port) as url:
        routes = ", ".join(recipe.route for recipe in recipes)
        with _written(url_file, url):
            say(f"{url} plays {routes or 'nothing yet: POST a recipe to /_admin/add_recipe'} (Ctrl-C stops it)")
            await asyncio.get_running_loop().create_future()


def open_files() -> int:
    """Raise the limit of open files as far as allowed, and return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MAX_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, MAX_OPEN_FILES)
    if soft == resource.RLIM_INFINITY or soft >= most:
        return most
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def _bound(port: int) -> socket.socket:
    require_within("--port", port, 0, 65_535)
    bound = socket.socket()
    try:
        # Allow the port of an origin that has just ended.
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((ADDRESS, port))
    except OSError as error:
        bound.close()
        raise _cannot_listen(port, error) from None
    return bound


def _cannot_listen(port: int, error: OSError) -> UserError:
    why = "is taken" if error.errno == errno.EADDRINUSE else f"can't be used: {error.strerror}"
    return UserError(f"port {port} of {ADDRESS} {why}. Choose another port: --port 0 uses any free port")


@contextlib.contextmanager
def _written(file: Path | None, url: str) -> Iterator[None]:
    if file is None:
        yield
        return
    files.write_text(file, f"{url}\n")  # this is atomic, so that readers see the whole URL
    try:
        yield
    finally:
        file.unlink(missing_ok=True)
