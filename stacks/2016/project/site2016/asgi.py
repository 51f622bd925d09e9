"""Create the channel layer that passes requests from the Daphne of 2016 to a worker, which runs Django."""

from channels.asgi import get_channel_layer

channel_layer = get_channel_layer()
