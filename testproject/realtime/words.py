"""Define the words of the protocol in docs/websockets.rst, with and without Channels."""

JOINED = "joined"  # the client is in the room and receives its messages from now on
OK = "ok"  # published
FULL = "full"  # not published, because the channel layer refused the message
SUBPROTOCOL = "echo"  # the server selects it if the client offers it
ROOM = r"(?P<room>[\w-]{1,64})"  # names that each channel layer accepts
