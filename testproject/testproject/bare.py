"""Answer each request with `OK` and without Django, to measure only the cost of the server (``APPLICATION=bare``)."""

BODY = b"OK"
TYPE = "text/html; charset=utf-8"  # Django's default


def wsgi(environ, start_response):
    start_response("200 OK", [("Content-Type", TYPE), ("Content-Length", str(len(BODY)))])
    return [BODY]


async def asgi(scope, receive, send):
    headers = [(b"content-type", TYPE.encode()), (b"content-length", b"%d" % len(BODY))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": BODY})
