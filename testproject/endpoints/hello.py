"""Implement the tests `JSON serialization` and `plaintext` of TechEmpower's FrameworkBenchmarks (docs/endpoints.rst).

The views create a new answer for each request, as the rules require.
"""

from django.http import HttpRequest, HttpResponse, JsonResponse

MESSAGE = "Hello, World!"


def json(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"message": MESSAGE})


async def json_async(request: HttpRequest) -> JsonResponse:
    return json(request)


def plaintext(request: HttpRequest) -> HttpResponse:
    return HttpResponse(MESSAGE, content_type="text/plain")


async def plaintext_async(request: HttpRequest) -> HttpResponse:
    return plaintext(request)
