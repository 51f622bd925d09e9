from channels.generic.websocket import AsyncJsonWebsocketConsumer


class Chat(AsyncJsonWebsocketConsumer):
    """Send each message in a room to all clients that joined the room."""

    room = None

    async def receive_json(self, content):
        if "join" in content:
            self.room = f"room.{content['join']}"
            await self.channel_layer.group_add(self.room, self.channel_name)
            await self.send_json({"joined": content["join"]})
        elif self.room:
            await self.channel_layer.group_send(self.room, {"type": "said", "text": content["text"]})

    async def said(self, event):
        await self.send_json({"text": event["text"]})

    async def disconnect(self, code):
        if self.room:
            await self.channel_layer.group_discard(self.room, self.channel_name)
