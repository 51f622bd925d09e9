import os

from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.core.asgi import get_asgi_application
from django.urls import path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chat.settings")
http = get_asgi_application()

from chat.consumers import Chat  # noqa: E402 - Django must be set up first

websocket = AllowedHostsOriginValidator(URLRouter([path("ws/chat/", Chat.as_asgi())]))
application = ProtocolTypeRouter({"http": http, "websocket": websocket})
