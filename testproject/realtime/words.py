"""Define the words of the protocol in docs/websockets.rst, with and without Channels."""

JOINED = "joined"  # The client is in the room, and receives the room's messages from now on.
OK = "ok"  # The message was published.
FULL = "full"  # The message was not published, because the channel layer refused it.
SUBPROTOCOL = "echo"  # The server selects this subprotocol if the client offers it.
ROOM = r"(?P<room>[\w-]{1,64})"  # Names that each channel layer accepts.
