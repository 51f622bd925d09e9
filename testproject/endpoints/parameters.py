"""Read query parameters."""

from django.core.exceptions import BadRequest
from django.http import HttpRequest


def bounded(request: HttpRequest, name: str, default: int, most: int) -> int:
    """Return the query parameter `name`, a whole number from 0 to `most`.

    Raises:
        BadRequest: If the parameter isn't such a number (400).
    """
    value = request.GET.get(name, str(default))
    # int() raises an exception for more than 4300 digits, and is slow for slightly shorter numbers.
    if not (value.isascii() and value.isdigit() and len(value) < 10 and int(value) <= most):
        raise BadRequest(f"{name} must be a whole number from 0 to {most}")
    return int(value)
