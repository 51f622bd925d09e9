"""What the endpoints say, alike with and without Channels; docs/websockets.rst has the protocol."""

JOINED = "joined"  # you are in the room: whatever is published from now on reaches you
OK = "ok"  # published
FULL = "full"  # not published: the channel layer refused it
SUBPROTOCOL = "echo"  # spoken with a client that offers it
ROOM = r"(?P<room>[\w-]{1,64})"  # names that every channel layer takes
