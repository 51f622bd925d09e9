"""Return the request that reached Django, so that you can compare setups."""

import hashlib

from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt

# The headers that a client chooses. Host and Connection depend more on the client's library than on the server.
HEADERS = ("Accept", "Content-Length", "Content-Type", "Cookie", "X-Repeated", "X-Latin-1")


@csrf_exempt
def inspect(request: HttpRequest, rest: str = "") -> JsonResponse:
    """Return the request line, parameters, chosen headers and cookies, and the size and hash of the body, as JSON."""
    return JsonResponse(
        {
            "method": request.method,
            "scheme": request.scheme,
            "path": request.path,
            "path_rest": rest,
            "query_string": request.META["QUERY_STRING"],
            "parameters": dict(request.GET.lists()),
            # Servers join repeated headers with "," or ", ", which are equivalent (RFC 9110, 5.3).
            "headers": {
                name: ", ".join(part.strip() for part in request.headers[name].split(","))
                for name in HEADERS
                if name in request.headers
            },
            "cookies": request.COOKIES,
            "body_bytes": len(request.body),
            "body_sha256": hashlib.sha256(request.body).hexdigest(),
        }
    )
