"""Receive a file from a form (multipart/form-data). Django keeps files of more than 2.5 MB in a temporary file."""

import hashlib

from django.core.exceptions import BadRequest
from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST


@csrf_exempt  # load generators have no CSRF token
@require_POST
def upload(request: HttpRequest) -> JsonResponse:
    """Return the size and the SHA-256 of the field `file`.

    Raises:
        BadRequest: If the form doesn't contain this file.
    """
    file = request.FILES.get("file")
    if file is None:
        raise BadRequest("send a form (multipart/form-data) with a file in the field 'file'")
    digest = hashlib.sha256()
    for chunk in file.chunks():
        digest.update(chunk)
    return JsonResponse({"bytes": file.size, "sha256": digest.hexdigest()})
