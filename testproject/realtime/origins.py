"""Check which pages may open a WebSocket.

The same-origin policy doesn't cover WebSockets. If a server authenticates clients by cookie and doesn't check the
Origin header, any page that a logged-in user visits can connect as that user.
"""

from urllib.parse import urlsplit

from channels.security.websocket import OriginValidator
from django.conf import settings
from django.http.request import validate_host


class AllowedOrigins(OriginValidator):
    """Check origins like Channels' `AllowedHostsOriginValidator`, but accept clients without an Origin header.

    Browsers always send the header, and it has no meaning for other clients (RFC 6455, section 10.2). The servers in
    peers/ check origins in the same way.
    """

    def __init__(self, application):
        super().__init__(application, settings.ALLOWED_HOSTS)

    def valid_origin(self, parsed_origin):
        return parsed_origin is None or super().valid_origin(parsed_origin)


def allowed(scope):
    """Check without Channels whether the Origin header of the handshake, if any, belongs to an allowed host."""
    origins = [value for name, value in scope["headers"] if name == b"origin"]
    try:
        return all(validate_host(_host(origin.decode("latin-1")), settings.ALLOWED_HOSTS) for origin in origins)
    except ValueError:
        return False


def _host(origin):
    """Return the host of an origin in the format of ALLOWED_HOSTS: in lower case, and IPv6 in brackets."""
    host = urlsplit(origin).hostname or ""
    return f"[{host}]" if ":" in host else host
