"""Which pages may open a WebSocket. The same origin policy does not hold for it: a server that authenticates by cookie
and does not look at Origin serves any page that its user visits."""

from urllib.parse import urlsplit

from channels.security.websocket import OriginValidator
from django.conf import settings
from django.http.request import validate_host


class AllowedOrigins(OriginValidator):
    """Channels' `AllowedHostsOriginValidator`, which also lets in those who send no Origin: no browser leaves it out,
    and to all others it means nothing (RFC 6455, section 10.2). The peers do the same."""

    def __init__(self, application):
        super().__init__(application, settings.ALLOWED_HOSTS)

    def valid_origin(self, parsed_origin):
        return parsed_origin is None or super().valid_origin(parsed_origin)


def allowed(scope):
    """The same without Channels: whether the handshake's Origin, if there is one, is an allowed host's."""
    origins = [value for name, value in scope["headers"] if name == b"origin"]
    try:
        return all(validate_host(_host(origin.decode("latin-1")), settings.ALLOWED_HOSTS) for origin in origins)
    except ValueError:
        return False


def _host(origin):
    """The host of an origin as ALLOWED_HOSTS has it: in lower case, IPv6 in brackets."""
    host = urlsplit(origin).hostname or ""
    return f"[{host}]" if ":" in host else host
