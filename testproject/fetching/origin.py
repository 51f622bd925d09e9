"""Find the origin's address, which only the settings define, so that requests can't use the views as an open proxy."""

import functools

from django.conf import settings

from fetching.results import NoOrigin


def url() -> str:
    """Return the URL to fetch.

    Raises:
        NoOrigin: If no origin is configured, or the origin isn't running yet.
    """
    wanted = settings.FETCHING
    if wanted.url is not None:
        return f"{wanted.url}{wanted.path}"
    if wanted.url_file is None:
        raise NoOrigin("there is no origin: set ORIGIN_URL, or start the service origin in the same RUN_DIR")
    try:
        return _of_service(wanted.url_file, wanted.path)
    except OSError:
        raise NoOrigin("the origin is not running: start the service origin, or set ORIGIN_URL") from None


@functools.lru_cache(maxsize=1)
def _of_service(file, path):
    return f"{file.read_text(encoding='ascii').strip()}{path}"
