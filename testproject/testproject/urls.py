from django.urls import path
from endpoints import echo, errors, inspect, plain, stream

urlpatterns = [
    path("", plain.ok),
    path("async/", plain.ok_async),
    path("healthz", plain.healthz),
    path("echo", echo.echo),
    path("inspect/", inspect.inspect),
    path("inspect/<path:rest>", inspect.inspect),
    path("stream/", stream.stream),
    path("error/", errors.error),
    path("error/async/", errors.error_async),
]
