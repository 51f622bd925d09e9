"""What Daphne of 2016 serves: no application but a channel layer, with Django in a worker at its other end."""

from channels.asgi import get_channel_layer

channel_layer = get_channel_layer()
