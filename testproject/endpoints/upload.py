"""A file from a form (multipart/form-data), which Django keeps in memory up to 2.5 MB and in a temporary file above."""

import hashlib

from django.core.exceptions import BadRequest
from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST


@csrf_exempt  # load generators have no token
@require_POST
def upload(request: HttpRequest) -> JsonResponse:
    """Size and SHA-256 of the field `file`; BadRequest where there is no such file."""
    file = request.FILES.get("file")
    if file is None:
        raise BadRequest("send a form (multipart/form-data) with a file in the field 'file'")
    digest = hashlib.sha256()
    for chunk in file.chunks():
        digest.update(chunk)
    return JsonResponse({"bytes": file.size, "sha256": digest.hexdigest()})
