"""Receive and send over a channel layer that may be full, restarting or not yet running."""

import asyncio
import logging
from typing import Any

from channels.exceptions import ChannelFull

logger = logging.getLogger("channels_relay")

FIRST_PAUSE = 0.005  # in seconds, doubled for each further pause, up to LONGEST_PAUSE
LONGEST_PAUSE = 1.0


async def receive_patiently(layer: Any, channel: str) -> Any:
    """Return the next message of the channel. If the layer fails, try again until it works."""
    pause = 0.1
    while True:
        try:
            return await layer.receive(channel)
        except Exception as error:  # each layer raises different exceptions
            logger.warning("cannot receive from %s, trying again: %s", channel, describe(error))
        await asyncio.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)


async def send_patiently(layer: Any, channel: str, message: Any, timeout: float) -> bool:
    """Send a message, and repeat it while the channel is full or the layer fails.

    If the layer accepts the message and then fails, the message can arrive twice.

    Args:
        layer: The channel layer for the message.
        channel: The name of the channel that receives the message.
        message: The message to send.
        timeout: The time until the function gives up, in seconds.

    Returns:
        Whether the message was sent.
    """
    loop = asyncio.get_running_loop()
    give_up = loop.time() + timeout
    pause = FIRST_PAUSE
    while True:
        try:
            await layer.send(channel, message)
        except ChannelFull:
            reason = "the channel is full"
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
    """Return the type and the first line of the error."""
    return f"{type(error).__name__}: {error}".splitlines()[0]
