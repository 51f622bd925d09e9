"""The tests `JSON serialization` and `plaintext` of TechEmpower's FrameworkBenchmarks (docs/endpoints.rst).

An answer is made anew for each request, as the rules ask.
"""

from django.http import HttpRequest, HttpResponse, JsonResponse

MESSAGE = "Hello, World!"


def json(request: HttpRequest) -> JsonResponse:
    """`{"message": "Hello, World!"}`"""
    return JsonResponse({"message": MESSAGE})


async def json_async(request: HttpRequest) -> JsonResponse:
    """The same from a coroutine."""
    return json(request)


def plaintext(request: HttpRequest) -> HttpResponse:
    """`Hello, World!`"""
    return HttpResponse(MESSAGE, content_type="text/plain")


async def plaintext_async(request: HttpRequest) -> HttpResponse:
    """The same from a coroutine."""
    return plaintext(request)
