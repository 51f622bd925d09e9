"""Serve HTTP with Django and WebSockets with Channels, in the process of the server."""

import os

from testproject.hops import asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "testproject.settings.websocket")
http = asgi_application()

from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402  (needs the settings)
from realtime.origins import AllowedOrigins  # noqa: E402
from realtime.routing import routes  # noqa: E402

application = ProtocolTypeRouter({"http": http, "websocket": AllowedOrigins(URLRouter(routes))})
