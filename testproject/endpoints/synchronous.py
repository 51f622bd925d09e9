"""Make Django's usual middleware synchronous, so that ASGI changes threads only twice in total (Django #21523)."""

from django.utils.module_loading import import_string
from testproject.settings.middleware import USUAL

for _path in USUAL:
    _original = import_string(_path)
    globals()[_original.__name__] = type(_original.__name__, (_original,), {"async_capable": False})
