"""Answer the requests of a channel layer, one at a time."""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any

from django.core.handlers.asgi import ASGIHandler

from .exchange import Exchange
from .messages import CHUNK, CONTROL, REQUESTS, WORKERS, Abandoned, Request
from .options import Options
from .patience import describe, receive_patiently

logger = logging.getLogger("channels_relay")

Application = Callable[[Any, Any, Any], Awaitable[None]]

# The number of abandoned requests to remember, because a worker can learn that a request is abandoned before the worker
# receives the request. Other workers handle most of these requests.
REMEMBERED = 10_000
# The seconds between attempts to join the group again. The group forgets its members after a day, and when Redis
# restarts.
JOIN_EVERY = 30.0


class RelayHandler(ASGIHandler):
    """Split answers into pieces that fill a message. Django's pieces of 64 KB are made for sockets."""

    chunk_size = CHUNK


class RelayWorker:
    """Receive requests from a channel layer, and send back the answers of an ASGI application."""

    def __init__(self, application: Application, layer: Any, options: Options) -> None:
        self.application = application
        self.layer = layer
        self.options = options
        self._current: Exchange | None = None
        self._abandoned: OrderedDict[str, None] = OrderedDict()
        self._waiting: asyncio.Task[Any] | None = None
        self._stopping = False

    def stop(self) -> None:
        """Finish the current request, and return from `run` without another request."""
        self._stopping = True
        if self._waiting is not None:
            self._waiting.cancel()

    async def run(self) -> None:
        """Handle requests until `stop` is called."""
        control = await self.layer.new_channel(CONTROL)
        helpers = [asyncio.create_task(self._listen(control)), asyncio.create_task(self._stay_joined(control))]
        try:
            while (request := await self._next_request()) is not None:
                await self._handle(request)
        finally:
            for helper in helpers:
                helper.cancel()
            await asyncio.gather(*helpers, return_exceptions=True)
            await self._leave(control)

    async def _next_request(self) -> Request | None:
        """Wait for a request. A worker takes a request from the layer only when the worker is idle.

        Returns:
            The request, or None after `stop`.
        """
        if self._stopping:
            return None
        self._waiting = asyncio.current_task()
        try:
            request: Request = await receive_patiently(self.layer, REQUESTS)
            return request
        except asyncio.CancelledError:
            if self._stopping:
                return None
            raise
        finally:
            self._waiting = None

    async def _handle(self, request: Request) -> None:
        if request["id"] in self._abandoned or time.time() > request["deadline"]:
            return
        exchange = self._current = Exchange(self.layer, request, self.options.timeout)
        try:
            await self.application(request["scope"], exchange.receive, exchange.send)
        except Exception:
            logger.exception("the application failed on %s", request["scope"]["path"])
        finally:
            self._current = None
        await exchange.finish()

    async def _listen(self, control: str) -> None:
        """Receive the ids of requests whose clients have disconnected."""
        while True:
            message: Abandoned = await receive_patiently(self.layer, control)
            if self._current is not None and self._current.id == message["id"]:
                self._current.disconnect()
                continue
            self._abandoned[message["id"]] = None
            if len(self._abandoned) > REMEMBERED:
                self._abandoned.popitem(last=False)

    async def _stay_joined(self, control: str) -> None:
        while True:
            try:
                await self.layer.group_add(WORKERS, control)
                pause = JOIN_EVERY
            except Exception as error:  # each layer raises different exceptions
                logger.warning("cannot join the group of workers, trying again: %s", describe(error))
                pause = 1.0
            await asyncio.sleep(pause)

    async def _leave(self, control: str) -> None:
        try:
            await self.layer.group_discard(WORKERS, control)
        except Exception as error:  # the group forgets this worker later
            logger.warning("cannot leave the group of workers: %s", describe(error))
