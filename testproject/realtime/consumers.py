"""Implement an echo, rooms and publishing with Channels' asynchronous consumers."""

from channels.exceptions import ChannelFull
from channels.generic.websocket import AsyncWebsocketConsumer

from .words import FULL, JOINED, OK, SUBPROTOCOL


def group(scope):
    """Return the layer's group for the room in the URL."""
    return f"room.{scope['url_route']['kwargs']['room']}"


def message(text):
    """Return the message that the layer delivers to each member of a room."""
    return {"type": "room.message", "text": text}


def subprotocol(scope):
    """Return the subprotocol of this application if the client offers it."""
    return SUBPROTOCOL if SUBPROTOCOL in scope["subprotocols"] else None


class Echo(AsyncWebsocketConsumer):
    async def connect(self):
        await self.accept(subprotocol(self.scope))

    async def receive(self, text_data=None, bytes_data=None):
        await self.send(text_data=text_data, bytes_data=bytes_data)


class Room(AsyncWebsocketConsumer):
    async def connect(self):
        await self.channel_layer.group_add(group(self.scope), self.channel_name)
        await self.accept(subprotocol(self.scope))
        await self.send(JOINED)

    async def disconnect(self, code):
        await self.channel_layer.group_discard(group(self.scope), self.channel_name)

    async def room_message(self, event):
        await self.send(event["text"])


class Publish(AsyncWebsocketConsumer):
    async def connect(self):
        await self.accept(subprotocol(self.scope))

    async def receive(self, text_data=None, bytes_data=None):
        try:
            await self.channel_layer.group_send(group(self.scope), message(text_data))
        except ChannelFull:
            await self.send(FULL)
        else:
            await self.send(OK)


class Refused(AsyncWebsocketConsumer):
    """Refuse a client with 403, before the end of the handshake."""

    async def connect(self):
        await self.close()
