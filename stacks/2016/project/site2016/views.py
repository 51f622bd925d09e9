"""Define a view that does as little as possible."""

from django.http import HttpResponse


def ok(request):
    return HttpResponse("OK")
