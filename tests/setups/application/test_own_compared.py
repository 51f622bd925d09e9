"""Test the command ``check`` on a user's project whose views differ between starts, or between WSGI and ASGI."""

import pytest

pytestmark = [pytest.mark.exhaustive, pytest.mark.servers]

URLS = """
import os
import time
from django.http import HttpResponse, HttpResponseRedirect
from django.urls import path

STARTED = time.time_ns()


def by_interface(request):
    return type(request).__name__


def with_header(name):
    def view(request):
        return HttpResponse("OK", headers={name: by_interface(request)})
    return view


def cookie(request):
    response = HttpResponse("OK")
    response.set_cookie("visit", str(time.time_ns()), httponly=by_interface(request) == "WSGIRequest")
    return response


def fails(request):
    raise LookupError("the word in the traceback")


def fails_under_asgi(request):
    return fails(request) if by_interface(request) == "ASGIRequest" else HttpResponse("OK")


def variables(request):
    found = {name: os.environ.get(name) for name in ("PORT", "WORKERS", "THREADS", "TLS", "KEEP_ALIVE")}
    assert found == {"PORT": "5000", "WORKERS": "8", "THREADS": None, "TLS": None, "KEEP_ALIVE": None}, found
    return HttpResponse("OK")


urlpatterns = [
    path("variables/", variables),
    path("", fails),
    path("ok/", lambda request: HttpResponse("OK")),
    path("set/", lambda request: HttpResponse(str({"a", "b", "c", "d", "e", "f", "g"}))),
    path("started/", lambda request: HttpResponse(str(STARTED), headers={"Location": f"/{STARTED}"})),
    path("moved/", lambda request: HttpResponseRedirect("/ok/")),
    path("location/", with_header("Location")),
    path("cache/", with_header("Cache-Control")),
    path("vary/", with_header("Vary")),
    path("encoding/", with_header("Content-Encoding")),
    path("cookie/", cookie),
    path("long/", lambda request: HttpResponse("x" * 5000 + by_interface(request))),
    path("fails/", fails),
    path("fails-under-asgi/", fails_under_asgi),
]
"""


@pytest.fixture
def project_with_views(mysite):
    (mysite / "mysite" / "urls.py").write_text(URLS)
    return mysite


@pytest.fixture
def check(command, project_with_views):
    """Return a function that compares pages of the project on two servers."""

    def run(*pages):
        paths = [part for page in pages for part in ("--path", page)]
        return command("check", "gunicorn", "uvicorn", "--app", project_with_views, *paths)

    return run


def test_values_chosen_at_start_are_ignored(check):
    code, printed, errors = check("/ok/", "/set/", "/started/")
    assert code == 0, printed + errors
    assert "note: the bodies of GET /" in printed
    assert "3 requests to each of 2 setups: 0 differences" in printed


def test_differences_in_headers_are_found(check):
    code, printed, _ = check("/location/", "/cache/", "/vary/", "/encoding/", "/cookie/", "/ok/")
    assert code == 1
    assert "6 requests to each of 2 setups: 5 differences" in printed
    assert "gunicorn answered 200 text/html; charset=utf-8 b'OK'; Location: WSGIRequest" in printed
    assert "Set-Cookie: visit (HttpOnly; Path=/)" in printed
    assert "Set-Cookie: visit (Path=/)" in printed


@pytest.mark.parametrize(
    ("path", "status"), [("/moved/", "302 instead of 200 (302 to "), ("/none/", "404 instead of 200")]
)
def test_check_fails_without_expected_answer(check, path, status):
    code, _, errors = check(path)
    assert code == 1
    assert f"no view was compared, because GET {path} answered {status}" in errors


def test_error_of_later_setup_shows_traceback(check):
    code, printed, _ = check("/fails-under-asgi/")
    assert code == 1
    assert "uvicorn: the end of its logs:" in printed
    assert "LookupError: the word in the traceback" in printed


def test_project_keeps_its_env_file_variables(command, project_with_views, monkeypatch, tmp_path):
    for name in ("WORKERS", "THREADS", "KEEP_ALIVE"):
        monkeypatch.setenv(name, "1")
    file = tmp_path / "env"
    file.write_text("PORT=5000\nWORKERS=8\n")
    options = ("--app", project_with_views, "--env-file", file, "--path", "/variables/")
    code, printed, errors = command("check", "gunicorn", "uvicorn", *options)
    assert code == 0, printed + errors
    assert "1 request to each of 2 setups: 0 differences" in printed
