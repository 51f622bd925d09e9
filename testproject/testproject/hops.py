"""Which handler serves the project under ASGI: Django's own, or with ``HOPLESS`` that of the package hopless.

``HOPLESS`` is ``1``, or a part of it: ``threads`` (threads that are kept, alone), ``middleware`` (Django's middleware,
alone), or ``whole`` (also a synchronous view and all of its middleware in one thread).
"""

import os

from django.core.asgi import get_asgi_application

PARTS = {
    "1": {},
    "threads": {"substitute": False},
    "middleware": {"idle_threads": 0},
    "whole": {"whole": True},
}


def asgi_application():
    """The ASGI application of the project; Channels' consumers hop less as well."""
    part = os.environ.get("HOPLESS")
    if not part:
        return get_asgi_application()
    import hopless
    from hopless import consumers

    application = hopless.get_asgi_application(**PARTS[part])
    consumers.install()
    return application
