"""Test the peculiarities of real projects on real servers, with the commands that users run."""

import json

import pytest

from loadtests.serve import contract

pytestmark = [pytest.mark.exhaustive, pytest.mark.servers]

SECURE = "SECURE_SSL_REDIRECT = True\nSECURE_PROXY_SSL_HEADER = ('HTTP_X_FORWARDED_PROTO', 'https')\n"
BY_PROXY = ("--header", "X-Forwarded-Proto: https")
LIFESPAN = """
import os
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "site1.settings")
from django.core.asgi import get_asgi_application
django, started = get_asgi_application(), []
async def application(scope, receive, send):
    if scope["type"] != "lifespan":
        assert started
        return await django(scope, receive, send)
    for does in ("startup", "shutdown"):
        assert (await receive())["type"] == f"lifespan.{does}"
        started.append(does)
        await send({"type": f"lifespan.{does}.complete"})
"""


def test_redirect_to_https_has_remedy(command, small):
    folder = small(settings=SECURE)
    code, _, errors = command("check", "gunicorn", "uvicorn", "--app", folder)
    assert code == 1
    assert "GET / answered 301 instead of 200 (301 to https://127.0.0.1:" in errors
    remedy = "Send this header, even if your proxy sends another: --header 'X-Forwarded-Proto: https'"
    assert f"SECURE_SSL_REDIRECT is on. {remedy}" in errors
    code, printed, errors = command("check", "gunicorn,uvicorn,granian-asgi", "--app", folder, *BY_PROXY)
    assert code == 0, printed + errors
    errors = command("check", "waitress", "--app", folder, *BY_PROXY)[2]
    assert "waitress: it cannot pass on the X-Forwarded headers" in errors


def test_lifespan_runs_if_supported(command, small):
    folder = small(files={"site1/asgi.py": LIFESPAN})
    code, printed, errors = command("check", "gunicorn,uvicorn,granian-asgi,gunicorn-asgi,hypercorn", "--app", folder)
    assert code == 0, printed + errors
    assert "daphne: it cannot run the lifespan protocol" in command("check", "daphne", "--app", folder)[2]


def test_settings_differing_between_servers_are_shown(command, small):
    code = """
import importlib.util, sys
if "gunicorn" in sys.modules:
    MIDDLEWARE.append("django.middleware.http.ConditionalGetMiddleware")
    DATABASES["default"].update(CONN_MAX_AGE=600, PASSWORD="hunter2")
"""
    _, printed, _ = command("check", "uvicorn", "gunicorn", "--app", small(settings=code))
    [line] = [line for line in printed.splitlines() if "settings of gunicorn differ" in line]
    assert "MIDDLEWARE django.middleware.http.ConditionalGetMiddleware: present instead of absent" in line
    assert "DATABASES default CONN_MAX_AGE: 600 instead of absent" in line
    assert "hunter2" not in printed


def test_host_option_selects_tenant(command, small, tmp_path):
    tenant = 'path("t/", lambda request: HttpResponse(request.get_host())), '
    folder = small(settings='ALLOWED_HOSTS = ["one.example", "two.example"]\n', views=tenant)
    workload = tmp_path / "tenants.toml"
    hosts = "".join(
        f'[[requests]]\nname = "{host}"\npath = "/t/"\nheaders = {{ Host = "{host}" }}\n'
        for host in ("one.example", "two.example")
    )
    workload.write_text(hosts)
    code, printed, errors = command("check", "gunicorn", "uvicorn", "--app", folder, "--workload", workload)
    assert (code, "0 differences" in printed) == (0, True), printed + errors


def test_blocked_view_is_reported(command, small, monkeypatch):
    monkeypatch.setattr(contract, "TIMEOUT_S", 2.0)
    folder = small(views='path("block/", lambda request: __import__("time").sleep(600)), ')
    code, printed, _ = command("check", "gunicorn", "--app", folder, "--path", "/", "--path", "/block/")
    assert code == 1
    assert "gunicorn: GET /block/: no answer (timed out)" in printed


TICKETS = """
import json, os, secrets
from urllib.parse import parse_qs
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "site1.settings")
from django.core.asgi import get_asgi_application
django, tickets = get_asgi_application(), set()
async def application(scope, receive, send):
    if scope["path"] == "/ticket/" and scope["method"] == "POST":
        tickets.add(ticket := secrets.token_urlsafe())
        await send({"type": "http.response.start", "status": 200, "headers": []})
        return await send({"type": "http.response.body", "body": json.dumps({"ticket": ticket}).encode()})
    if not scope["path"].startswith(("/ws/", "/events/")):
        return await django(scope, receive, send)
    known = (ticket := parse_qs(scope["query_string"].decode())["ticket"][0]) in tickets
    tickets.discard(ticket)
    if scope["type"] == "http":
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200 if known else 403, "headers": headers})
        for event in range(4):
            await send({"type": "http.response.body", "body": b"data: %d\\n\\n" % event, "more_body": event < 3})
        return
    await receive()
    await send({"type": "websocket.accept"})
    if not known:
        return await send({"type": "websocket.close", "code": 4403})
    while (message := await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.send", "text": message["text"]})
"""
MEMBERS = """
import json
from pathlib import Path
from urllib.parse import parse_qs
PAGE = b'<form method="post"><input name="username"><input type="password" name="password"></form>'
async def application(scope, receive, send):
    headers = dict(scope["headers"])
    user = headers.get(b"cookie", b"").decode().partition("sessionid=")[2]
    if scope["type"] == "websocket":
        await receive()
        if not user:
            return await send({"type": "websocket.close"})
        await send({"type": "websocket.accept"})
        while (message := await receive())["type"] == "websocket.receive":
            await send({"type": "websocket.send", "text": message["text"]})
    elif scope["type"] == "http":
        status, headers, body = 200, [(b"content-type", b"text/html")], [PAGE]
        if scope["method"] == "POST":
            name = parse_qs((await receive())["body"].decode())["username"][0]
            status, headers = 302, [(b"location", b"/"), (b"set-cookie", f"sessionid={name}; Path=/".encode())]
        elif scope["path"] == "/members/":
            status = 200 if user else 403
            headers, body = [(b"content-type", b"text/event-stream")], [b"data: %d\\n\\n" % event for event in range(4)]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        for part in [*body, b""]:
            await send({"type": "http.response.body", "body": part, "more_body": part != b""})
    with Path(__file__).with_name("seen").open("a") as file:
        print(scope.get("path"), user, file=file)
"""
STUDY = """
setups = ["uvicorn"]
blocks = 1
[tests.echo]
rate = 20
connections = 4
duration = "500ms"
"""
STREAMS = """
setups = ["uvicorn"]
blocks = 1
[tests.stream]
rate = 20
streams = 4
events = 4
every = "50ms"
duration = "500ms"
"""
TICKET = ("--ticket", "POST /ticket/ .ticket")


@pytest.fixture
def measured(command, small, tmp_path):
    """Return a function that measures a study, by default with tickets, and returns the result of its only trial."""

    def measured(study, *options, asgi=TICKETS, members=TICKET):
        (file := tmp_path / "study.toml").write_text(study)
        own = ("--app", small(files={"site1/asgi.py": asgi}), *members)
        command("run", file, *own, *options, "--output", tmp_path / "run", "--ignore-busy")
        [trial] = (tmp_path / "run" / "trials").glob("*.json")
        return json.loads(trial.read_text())["result"]

    return measured


def test_websockets_have_their_own_tickets(command, small, measured):
    talk = ("--ws-path", "/ws/?ticket=$TICKET", "--ws-send", "$ID")
    code, printed, _ = command("check", "uvicorn", "--app", small(files={"site1/asgi.py": TICKETS}), *talk)
    assert code == 1
    assert "with 4403" in printed
    result = measured(STUDY, *talk)
    assert (result["ok"], result["errors"]) == (10, {})


def test_event_streams_have_their_own_tickets(measured):
    result = measured(STREAMS, "--path", "/events/?ticket=$TICKET", "--path", "/")
    assert result["streams"]["begun"] >= 4
    assert result["streams"]["whole"] == result["streams"]["begun"]


@pytest.mark.parametrize(
    ("study", "options"),
    [(STUDY, ("--ws-path", "/members/", "--ws-send", "$ID")), (STREAMS, ("--path", "/members/", "--path", "/"))],
    ids=["websockets", "streams"],
)
def test_users_of_connections_take_turns(small, measured, tmp_path, study, options):
    (accounts := tmp_path / "accounts.csv").write_text("ada,hunter2\nbob,hunter3\n")
    members = ("--login", "/in/", "--login-accounts", accounts)
    result = measured(study, *options, asgi=MEMBERS, members=members)
    assert (result["ok"], result["errors"]) == (10, {})
    if streams := result["streams"]:
        assert streams["begun"] == streams["whole"] >= 4
    seen = (small() / "site1" / "seen").read_text().splitlines()
    assert {"/members/ ada", "/members/ bob"} <= set(seen)


def test_other_requests_refuse_tickets(refused, small):
    own = ("--app", small(), "--path", "/?ticket=$TICKET", *TICKET)
    assert "$TICKET only works in the paths of WebSockets and event streams" in refused("run", *own, "--quick")
