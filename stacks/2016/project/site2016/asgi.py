"""Create the channel layer for the requests of the Daphne of 2016. A worker runs Django at the other end."""

from channels.asgi import get_channel_layer

channel_layer = get_channel_layer()
