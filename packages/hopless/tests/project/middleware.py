"""Define third-party middleware in each style that Django supports."""

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpResponse
from django.utils.deprecation import MiddlewareMixin


class Mixed(MiddlewareMixin):
    """Middleware with Django's mixin and all hooks.

    With the parameter ``fail=request``, the hook ``process_request`` raises an error, and so on. With ``short=1``, the
    middleware answers without calling the view.
    """

    def process_request(self, request):
        self._fail(request, "request")
        if "short" in request.GET:
            return HttpResponse("short")
        return None

    def process_view(self, request, view, args, kwargs):
        self._fail(request, "view")

    def process_exception(self, request, exception):
        if "mend" in request.GET:
            return HttpResponse(f"mended {exception}")
        return None

    def process_template_response(self, request, response):
        self._fail(request, "template")
        return response

    def process_response(self, request, response):
        self._fail(request, "response")
        response["X-Mixed"] = "1"
        return response

    def _fail(self, request, hook):
        if request.GET.get("fail") == hook:
            raise ValueError(hook)


def synchronous(get_response):
    """Return function-based middleware that only supports the synchronous mode."""

    def middleware(request):
        response = get_response(request)
        response["X-Synchronous"] = "1"
        return response

    return middleware


class Asynchronous:
    """Middleware that only supports the asynchronous mode."""

    sync_capable = False
    async_capable = True

    def __init__(self, get_response):
        self.get_response = get_response
        assert iscoroutinefunction(get_response)
        markcoroutinefunction(self)

    async def __call__(self, request):
        response = await self.get_response(request)
        response["X-Asynchronous"] = "1"
        return response
