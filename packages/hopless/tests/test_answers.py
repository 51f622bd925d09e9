"""Test that hopless answers with the same status, headers and body as Django's application."""

import asyncio
import re
from contextlib import contextmanager

import pytest
from django.contrib.auth.models import User
from django.core.asgi import get_asgi_application as djangos
from django.test import Client, override_settings
from hopless import get_asgi_application

from tests.conftest import ask
from tests.project.settings import SEVEN

FORM = (b"content-type", b"application/x-www-form-urlencoded")
TOKEN = b"a" * 32
COOKIE = (b"cookie", b"csrftoken=" + TOKEN)
WITH_TOKEN = b"a=1&csrfmiddlewaretoken=" + TOKEN
FORMS = [
    ([FORM], b"a=1"),
    ([FORM, COOKIE], WITH_TOKEN),
    ([FORM, COOKIE, (b"origin", b"http://evil.example")], WITH_TOKEN),
]
NAMES = ["ok", "fails", "token", "session", "user", "users", "template", "stream"]
THIRD = "tests.project.middleware"
SETTINGS = {
    "the usual seven": {},
    "none": {"MIDDLEWARE": []},
    "all of Django's": {
        "MIDDLEWARE": [
            "django.middleware.gzip.GZipMiddleware",
            "django.middleware.http.ConditionalGetMiddleware",
            *SEVEN,
            "django.middleware.locale.LocaleMiddleware",
            "django.middleware.common.BrokenLinkEmailsMiddleware",
            "django.contrib.auth.middleware.LoginRequiredMiddleware",
        ]
    },
    "csrf in sessions": {"CSRF_USE_SESSIONS": True},
    "sessions saved always": {"SESSION_SAVE_EVERY_REQUEST": True},
    "sessions in cookies": {"SESSION_ENGINE": "django.contrib.sessions.backends.signed_cookies"},
    "sessions in the cache": {"SESSION_ENGINE": "django.contrib.sessions.backends.cache"},
    "messages in sessions": {"MESSAGE_STORAGE": "django.contrib.messages.storage.session.SessionStorage"},
    "a third party's before": {"MIDDLEWARE": [f"{THIRD}.Mixed", *SEVEN]},
    "between": {"MIDDLEWARE": [*SEVEN[:3], f"{THIRD}.synchronous", *SEVEN[3:]]},
    "after": {"MIDDLEWARE": [*SEVEN, f"{THIRD}.Mixed"]},
    "of all styles": {"MIDDLEWARE": [f"{THIRD}.Asynchronous", f"{THIRD}.Mixed", *SEVEN, f"{THIRD}.Mixed"]},
    "debug": {"DEBUG": True},
}
WAYS = {
    "ours": {},
    "threads only": {"substitute": False},
    "no idle threads": {"idle_threads": 0},
    "whole": {"whole": True},
}
REQUESTS = [
    *((f"{prefix}/{name}/{query}", {}) for prefix in ("", "/async") for name in NAMES for query in ("", "?short=1")),
    *((f"{prefix}/ok/?fail={hook}", {}) for prefix in ("", "/async") for hook in ("request", "view", "response")),
    *((f"{prefix}/template/?fail=template", {}) for prefix in ("", "/async")),
    *((f"{prefix}/fails/?how={how}", {}) for prefix in ("", "/async") for how in ("denied", "suspicious")),
    *((f"{prefix}/fails/?mend=1", {}) for prefix in ("", "/async")),
    *((path, {}) for path in ("/ok", "/async/ok", "/nothing", "/nothing/", "/message/", "/messages/", "/large/")),
    ("/async/ok/", {"method": "HEAD"}),
    ("/ok/", {"method": "OPTIONS"}),
    ("/large/", {"headers": [(b"accept-encoding", b"gzip")]}),
    ("/async/stream/", {"headers": [(b"accept-encoding", b"gzip")]}),
    ("/async/ok/", {"headers": [(b"accept-language", b"de")]}),
    ("/async/ok/", {"headers": [(b"if-none-match", b'"444bcb3a3fcf8389296c49467f27e1d6"')]}),
    ("/async/ok/", {"headers": [(b"host", b"evil.example")]}),
    ("/async/ok/?q=%ff", {}),
    *((path, {"method": "POST", "headers": headers, "body": body})
      for path in ("/post/", "/async/post/", "/exempt/") for headers, body in FORMS),
]  # fmt: skip


def comparable(answer):
    """Return an answer without random parts: keys, dates, tracebacks, and compressed bodies and their lengths."""
    if answer is None:
        return None
    status, headers, body = answer
    text = re.sub(r"(csrftoken|sessionid|messages)=[^;]*", r"\1=...", repr(headers))
    text = re.sub(r"expires=[^;]*", "expires=...", text)
    if b"<title>" in body or b"Traceback" in body or (b"Content-Encoding", b"gzip") in headers:
        return status, re.sub(r"(b'Content-Length', b'|b'ETag', b'[^']*)[^']*'", "...", text), None
    return status, text, body


@contextmanager
def signed_in():
    user, _ = User.objects.get_or_create(username="ada")
    client = Client()
    client.force_login(user)
    yield (b"cookie", b"sessionid=" + client.cookies["sessionid"].value.encode())


@pytest.mark.parametrize("named", SETTINGS)
@pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume")
def test_answers_match_stock_django(named):
    with override_settings(**SETTINGS[named]), signed_in() as cookie:
        apps = {way: get_asgi_application(**options) for way, options in WAYS.items()}
        stock = djangos()
        requests = [*REQUESTS, *((path, {"headers": [cookie]}) for path in ("/user/", "/async/user/", "/async/ok/"))]

        async def main():
            different = []
            for path, options in requests:
                wanted = comparable(await ask(stock, path, **options))
                for way, app in apps.items():
                    if (found := comparable(await ask(app, path, **options))) != wanted:
                        different.append((way, path, options, found, wanted))
            return different

        assert asyncio.run(main()) == []


@pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume")
def test_wrongly_declared_middleware_is_detected():
    """Check that the comparison fails if a hook queries the database in the event loop."""
    from unittest import mock

    from hopless import middleware

    path = "django.contrib.sessions.middleware.SessionMiddleware"
    with signed_in() as cookie, override_settings(SESSION_SAVE_EVERY_REQUEST=True):
        stock = djangos()
        with mock.patch.dict(middleware.KNOWN, {path: {"request": middleware.never, "response": middleware.never}}):
            middleware.known.cache_clear()
            mutant = get_asgi_application()
        middleware.known.cache_clear()

        async def main():
            return [(await ask(app, "/async/session/", headers=[cookie]))[0] for app in (stock, mutant)]

        assert asyncio.run(main()) == [200, 500]
