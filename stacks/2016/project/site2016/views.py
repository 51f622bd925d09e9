"""The least that a view can do, in 2016 as today."""

from django.http import HttpResponse


def ok(request):
    """`OK`."""
    return HttpResponse("OK")
