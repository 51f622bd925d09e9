"""Receiving and sending over a layer that may be full, restarting or not there yet."""

import asyncio
import logging
from typing import Any

from channels.exceptions import ChannelFull

logger = logging.getLogger("channels_relay")

FIRST_PAUSE = 0.005  # seconds; doubled up to the longest
LONGEST_PAUSE = 1.0


async def receive_patiently(layer: Any, channel: str) -> Any:
    """The next message of the channel, however long the layer is out of reach."""
    pause = 0.1
    while True:
        try:
            return await layer.receive(channel)
        except Exception as error:  # each layer has errors of its own
            logger.warning("cannot receive from %s, trying again: %s", channel, describe(error))
        await asyncio.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)


async def send_patiently(layer: Any, channel: str, message: Any, timeout: float) -> bool:
    """Send, again and again for `timeout` seconds while the channel is full or the layer out of reach.

    Returns whether it was sent. It may arrive twice, when the layer fails after it took the message.
    """
    loop = asyncio.get_running_loop()
    give_up = loop.time() + timeout
    pause = FIRST_PAUSE
    while True:
        try:
            await layer.send(channel, message)
        except ChannelFull:
            reason = "it is full"
        except Exception as error:
            reason = describe(error)
        else:
            return True
        if loop.time() + pause > give_up:
            logger.error("could not send to %s within %g s: %s", channel, timeout, reason)
            return False
        await asyncio.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)


def describe(error: Exception) -> str:
    """The error in one line."""
    return f"{type(error).__name__}: {error}".splitlines()[0]
