"""Query parameters."""

from django.core.exceptions import BadRequest
from django.http import HttpRequest


def bounded(request: HttpRequest, name: str, default: int, most: int) -> int:
    """The query parameter `name`, from 0 to `most`; BadRequest (400) for anything else."""
    value = request.GET.get(name, str(default))
    # int() raises above 4300 digits, and takes time below.
    if not (value.isascii() and value.isdigit() and len(value) < 10 and int(value) <= most):
        raise BadRequest(f"{name} must be a whole number from 0 to {most}")
    return int(value)
