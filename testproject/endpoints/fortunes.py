"""Implement the test `fortunes` of TechEmpower's FrameworkBenchmarks (docs/endpoints.rst).

The view reads all rows, adds a row, sorts the rows by message, and renders a page whose template escapes them.
"""

from operator import attrgetter

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from endpoints.models import Fortune

ADDED = "Additional fortune added at request time."


def fortunes(request: HttpRequest) -> HttpResponse:
    return page(request, list(Fortune.objects.all()))


async def fortunes_async(request: HttpRequest) -> HttpResponse:
    """Run the query in a thread and the template in the event loop."""
    return page(request, [fortune async for fortune in Fortune.objects.all()])


def page(request: HttpRequest, found: list[Fortune]) -> HttpResponse:
    """Render these fortunes and the additional fortune."""
    found.append(Fortune(id=0, message=ADDED))
    found.sort(key=attrgetter("message"))
    return render(request, "endpoints/fortunes.html", {"fortunes": found})
