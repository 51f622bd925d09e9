"""Do as little as possible in a view."""

from django.http import HttpResponse


def ok(request):
    return HttpResponse("OK")
