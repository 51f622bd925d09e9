"""The process that answers: ``python -m loadtests.measure.layers.echo LAYER ADDRESS``. Prints READY once it does."""

from __future__ import annotations

import asyncio
import socket
import sys

from loadtests.measure.layers.layer import CHANNEL, READY, channel_layer
from loadtests.measure.layers.rounds import SOCKET


def over_socket(path: str) -> None:
    """Sends back what one client sends, until it goes."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        print(READY, flush=True)
        connection, _ = listener.accept()
        with connection:
            while data := connection.recv(65536):
                connection.sendall(data)


async def over_layer(name: str, address: str) -> None:
    """Answers each message on the channel it asks for, one at a time, as a worker does."""
    layer = channel_layer(name, address)
    print(READY, flush=True)
    while True:
        message = await layer.receive(CHANNEL)
        await layer.send(message["reply_channel"], {"type": "echo", "body": message["body"]})


if __name__ == "__main__":
    if sys.argv[1] == SOCKET:
        over_socket(sys.argv[2])
    else:
        asyncio.run(over_layer(sys.argv[1], sys.argv[2]))
