"""Return the body of a request."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST


@csrf_exempt  # load generators have no CSRF token
@require_POST
def echo(request: HttpRequest) -> HttpResponse:
    """Return the body of the request, up to DATA_UPLOAD_MAX_MEMORY_SIZE bytes, with its content type."""
    content_type = request.headers.get("Content-Type") or "application/octet-stream"
    return HttpResponse(request.body, content_type=content_type)
