"""Choose the handler that serves the project over ASGI.

``HOPLESS`` is ``1`` for the package hopless, or one of its parts: ``threads`` (only kept threads), ``middleware`` (only
Django's middleware), or ``whole`` (a synchronous view and all of its middleware in one thread). ``MAX_THREADS`` limits
the requests that run synchronous code at the same time, with hopless or with Django's own handler.
"""

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor

from asgiref.sync import ThreadSensitiveContext
from django.core.asgi import get_asgi_application

PARTS = {
    "1": {},
    "threads": {"substitute": False},
    "middleware": {"idle_threads": 0},
    "whole": {"whole": True},
}


class LimitedThreads:
    """Serve HTTP with Django's own handler in a fixed number of threads. asgiref 3.13 or newer is required.

    Each request gets a thread for its whole duration. Other requests wait in order.

    Args:
        application: Django's ASGI application.
        number: The number of threads.
    """

    def __init__(self, application, number):
        self.application = application
        self.threads = asyncio.Queue()
        for _ in range(number):
            self.threads.put_nowait(ThreadPoolExecutor(max_workers=1))

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        thread = await self.threads.get()
        try:
            async with ThreadSensitiveContext(executor=thread):
                await self.application(scope, receive, send)
        finally:
            self.threads.put_nowait(thread)


def asgi_application():
    """Return the ASGI application of the project. With hopless, Channels' consumers also change threads less often."""
    part = os.environ.get("HOPLESS")
    limit = int(os.environ["MAX_THREADS"]) if os.environ.get("MAX_THREADS") else None
    if not part:
        application = get_asgi_application()
        return application if limit is None else LimitedThreads(application, limit)
    import hopless
    from hopless import consumers

    application = hopless.get_asgi_application(max_threads=limit, **PARTS[part])
    consumers.install()
    return application
