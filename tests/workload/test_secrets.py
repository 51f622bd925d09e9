"""Test that secrets in a recording are neither written to the workload nor printed."""

import json
from urllib.parse import quote, unquote

import pytest

from loadtests.errors import UserError
from loadtests.workload.convert import ConvertOptions, convert, text
from loadtests.workload.redaction import Keep

SITE = "https://shop.example"
FORM = [("Content-Type", "application/x-www-form-urlencoded")]
RANDOM = "kX9fQ2mW7vB4nL1pR8sT"
HEXADECIMAL = "9f86d081884c7d659a2feaa0c55ad015"
UUID = "550e8400-e29b-41d4-a716-446655440000"
# Secrets under names that are usually harmless.
OPENS = [
    ("code", "4/0AX4XfWh"), ("code", "SplxlOBeZQ"), ("code", "123456"), ("state", "af0ifjsldkj"), ("pw", "hunter"),
    ("ticket", "ST-18-aA5Yu"), ("access", "eyJ0.eyJ1.x"), ("refresh", "r3fr3sh"), ("invite", UUID),
    ("inviteCode", "QX81ZZ"), ("security_code", "918273"), ("reset_key", "5xk-8c7e2"), ("userCode", "WDJB-MJ7T"),
]  # fmt: skip
# Words and small numbers under the same names aren't secrets.
HARMLESS = [
    ("code", "DE"), ("code", "404"), ("country_code", "DE"), ("state", "open"), ("state", "New South Wales"),
    ("state", "in_progress"), ("ticket", "1234"), ("ticket_id", "1234567"), ("access", "read-write"),
    ("refresh", "true"), ("postal_code", "90210-1234"), ("product_code", "SKU-12345"), ("status", "a1b2c3d4"),
    ("confirm_email", "a1@b.example"), ("estate", "a1b2c3d4"), ("encode", "utf-16-le"), ("preset", "summer24"),
]  # fmt: skip


@pytest.fixture
def converted(har, entry):
    """Return a function that converts a recorded request and returns the new request and all written text."""

    def convert_one(path="/", keep=Keep(), **recorded):  # noqa: B008 - it never changes
        file = har(entry(f"{SITE}{path}", **recorded))
        found = convert("har", file, ConvertOptions(keep=keep))
        [request] = found.workload.requests
        return request, text(found, file)

    return convert_one


@pytest.mark.parametrize(
    "name",
    [
        "X-Auth-Token", "X-Amz-Security-Token", "X-Session-Id", "X-Api-Key", "apikey", "Api-Secret", "X-CSRF",
        "X-Signature", "X-Credential", "Set-Cookie", "Proxy-Authorization", "X-SID", "Authentication",
    ],
)  # fmt: skip
def test_header_with_secret_name_is_dropped(converted, name):
    request, written = converted(headers=[(name, "hunter2"), ("X-Author", "Ada")])
    assert request.headers == (("X-Author", "Ada"),)
    assert "hunter2" not in written
    assert f"# dropped headers that may be secret: {name}; --keep-header NAME keeps a header" in written


@pytest.mark.parametrize(
    "value", [RANDOM, HEXADECIMAL, f"id {RANDOM}", f"{SITE}/?token=hunter2", "https://u:hunter2@a/"]
)
def test_header_with_secret_value_is_dropped(converted, value):
    parts = ("Content-Type", f"multipart/form-data; boundary={RANDOM}")  # a boundary looks like a secret, but is needed
    request, written = converted(headers=[("X-Thing", value), parts])
    assert request.headers == (parts,)
    assert "hunter2" not in written


@pytest.mark.parametrize(
    ("path", "becomes"),
    [
        ("/?token=hunter2&page=2", "/?token=REPLACED&page=2"),
        ("/?access_token=hunter2", "/?access_token=REPLACED"),
        ("/?%74oken=hunter2", "/?%74oken=REPLACED"),
        (f"/?q={RANDOM}", "/?q=REPLACED"),
        (f"/?{HEXADECIMAL}", "/?REPLACED"),
        (f"/?{HEXADECIMAL}=1", "/?REPLACED=1"),
        ("/?next=%2Freset%3Ftoken%3Dhunter2", "/?next=%2Freset%3Ftoken%3DREPLACED"),
        ("/?back=https%3A%2F%2Fu%3Ahunter2%40a%2F", "/?back=https%3A%2F%2Fa%2F"),
        (f"/reset/MQ/{HEXADECIMAL}/", "/reset/MQ/REPLACED/"),
        ("/cart;jsessionid=1A2B/", "/cart;jsessionid=REPLACED/"),
        (f"/files/{RANDOM}.pdf", "/files/REPLACED.pdf"),
        # The preceding part of the path shows that the next part is a key.
        (f"/invite/{UUID}/", "/invite/REPLACED/"),
        (f"/teams/7/invitations/{UUID}/accept", "/teams/7/invitations/REPLACED/accept"),
        (f"/accept-invite?id={UUID}&page=2", "/accept-invite?id=REPLACED&page=2"),
        ("/reset/Mjg5MQ/5xk-8c7e21/", "/reset/REPLACED/REPLACED/"),
        (f"/magic-link/{UUID.upper()}", "/magic-link/REPLACED"),
    ],
)
def test_secrets_in_urls_are_replaced(converted, path, becomes):
    request, written = converted(path)
    assert request.path == becomes
    assert not any(secret in written for secret in ("hunter2", RANDOM, HEXADECIMAL, UUID, "1A2B"))
    assert "may be secret" in written or "back" in path


@pytest.mark.parametrize(
    "path",
    [
        "/how-to-load-test-a-django-application-2024/",
        f"/static/app.{HEXADECIMAL}.js?v=3.6.0",
        "/?author=ada&sort=price&at=2026-11-21T10:00:00Z&utm_campaign=SUMMER2024SALE",
        "/api/getUserAccountByIdAndNameList?id=1732183200000",
        "/?token=&a",
        f"/orders/{UUID}/lines?id={UUID}",
        f"/how-to-reset-your-password/{UUID}/",
        "/join/room-12345/",
        "/share/a-headline-of-2024/",
        f"/invite/team/of/{UUID}/",
        "/login/app.9f86d081884c7d65.js",
    ],
)
def test_ordinary_names_are_kept(converted, path):
    assert converted(path)[0].path == path


PARTS = (
    '--X\r\nContent-Disposition: form-data; name="password"\r\n\r\nhunter2\r\n'
    '--X\r\nContent-Disposition: form-data; name="size"\r\n\r\n42\r\n--X--\r\n'
)
MULTIPART = [("Content-Type", "multipart/form-data; boundary=X")]


@pytest.mark.parametrize(
    ("headers", "body", "becomes"),
    [
        (FORM, "name=Ada&password=hunter2&x=", "name=Ada&password=REPLACED&x="),
        (FORM, "csrfmiddlewaretoken=hunter2", "csrfmiddlewaretoken=REPLACED"),
        ([], '{"user": "Ada", "api_key": "hunter2"}', '{"user":"Ada","api_key":"REPLACED"}'),
        ([], '{"credentials": {"name": "hunter2", "pin": 1234}}', '{"credentials":{"name":"REPLACED","pin":0}}'),
        ([], f'["{RANDOM}", 1, null, true]', '["REPLACED",1,null,true]'),
        ([], '{"query": "{ login(password: \\"hunter2\\") }"}', '{"query":"{ login(password: \\"REPLACED\\") }"}'),
        ([], '{"user": "Ada", "n": [1,  2]}', '{"user": "Ada", "n": [1,  2]}'),
        ([], "<login><password>hunter2 x</password></login>", "<login><password>REPLACED</password></login>"),
        (MULTIPART, PARTS, PARTS.replace("hunter2", "REPLACED")),
        (MULTIPART, PARTS.replace("\r", ""), PARTS.replace("\r", "").replace("hunter2", "REPLACED")),
    ],
)
def test_body_keeps_everything_except_secrets(converted, headers, body, becomes):
    request, written = converted(method="POST", headers=headers, body=body)
    assert request.body == becomes.encode()
    assert "hunter2" not in written


def everywhere(name, value):
    """Return requests, by place, with this name and value in the query, in a header, and in a body of each kind."""
    form, part = "application/x-www-form-urlencoded", 'Content-Disposition: form-data; name="{}"'
    number = value if value.isdigit() else json.dumps(value)
    return {
        "query": {"path": f"/callback?page=2&{name}={quote(value)}"},
        "URL in a query": {"path": f"/login?next={quote(f'/callback?{name}={value}', safe='')}"},
        "header": {"headers": [(f"X-{name}", value)]},
        "form": {"method": "POST", "headers": [("Content-Type", form)], "body": f"a=1&{name}={quote(value)}"},
        "parts": {
            "method": "POST",
            "headers": [("Content-Type", "multipart/form-data; boundary=X")],
            "body": f"--X\r\n{part.format(name)}\r\n\r\n{value}\r\n--X--\r\n",
        },
        "JSON": {"method": "POST", "body": json.dumps({"a": {name: [value]}})},
        "JSON of numbers": {"method": "POST", "body": f'{{"{name}":{number}}}'},
        "text": {"method": "POST", "headers": [("Content-Type", "text/plain")], "body": f"# {name}: '{value}'"},
    }


@pytest.mark.parametrize(("name", "value"), OPENS)
def test_secret_is_recognized_by_shape(converted, name, value):
    for place, recorded in everywhere(name, value).items():
        _, written = converted(**recorded)
        assert value not in unquote(unquote(written)), place
        assert quote(value) not in written, place


@pytest.mark.parametrize(("name", "value"), HARMLESS)
def test_short_values_are_kept(converted, name, value):
    for place, recorded in everywhere(name, value).items():
        request, _ = converted(**recorded)
        assert request.path == recorded.get("path", "/"), place
        assert set(recorded.get("headers", [])) <= set(request.headers), place
        assert (request.body or b"").decode() == recorded.get("body", ""), place


def test_access_log_secrets_are_replaced(log):
    line = '1.2.3.4 - - [21/Nov/2026:10:00:00 +0000] "GET {} HTTP/1.1" 200 5'
    file = log(line.format(f"/join/{UUID}/?token=hunter2&page=1"), line.format("http://u:hunter2@a/b?sid=hunter2"))
    found = convert("log", file)
    paths = [request.path for request in found.workload.requests]
    assert paths == ["/join/REPLACED/?token=REPLACED&page=1", "/b?sid=REPLACED"]
    assert "hunter2" not in text(found, file)
    kept = convert("log", file, ConvertOptions(keep=Keep(fields=("token",))))
    assert kept.workload.requests[0].path == "/join/REPLACED/?token=hunter2&page=1"


def test_report_hides_secret_values(har, entry):
    file = har(
        entry(f"{SITE}/a?token=hunter2&page=7", headers=[("X-Auth-Token", "hunter2"), ("Accept", "text/x")]),
        entry(f"{SITE}/{HEXADECIMAL}", "POST", body='{"password": "hunter2", "size": "large"}'),
    )
    remarks = convert("har", file).remarks
    assert remarks[2:] == (
        "dropped headers that may be secret: X-Auth-Token; --keep-header NAME keeps a header",
        "replaced by REPLACED, because it may be secret: field token, part of a path, field password; "
        "--keep-field NAME keeps a field, and --keep-paths the paths",
        "kept headers: Accept, Content-Type",
        "kept query parameters and fields: page, size",
    )


def test_field_can_be_kept_by_name(converted):
    keep = Keep(headers=("x-auth-token", "Referer"), fields=("TOKEN",), paths=True)
    headers = [("X-Auth-Token", "hunter2"), ("X-Session-Id", "4"), ("Referer", SITE)]
    request, written = converted(f"/{HEXADECIMAL}?token=hunter2&sid=5", keep, headers=headers)
    assert request.headers == (("X-Auth-Token", "hunter2"), ("Referer", SITE))
    assert request.path == f"/{HEXADECIMAL}?token=hunter2&sid=REPLACED"
    said = "part of a path, field token, header X-Auth-Token; keep the file to yourself"
    assert f"# kept, although it may be secret: {said}" in written


@pytest.mark.parametrize("keep", [Keep(headers=("X-Aut",)), Keep(fields=("tokn",))])
def test_unknown_kept_name_is_refused(converted, keep):
    with pytest.raises(UserError, match=r"^--keep-(header X-Aut|field tokn): the requests don't contain this name"):
        converted("/?token=1", keep, headers=[("X-Auth", "1")])


def test_credentials_in_urls_are_never_printed(har, entry):
    file = har(entry("https://ada:hunter2@shop.example/a"), entry("https://bob:hunter2@other.example/"))
    found = convert("har", file)
    assert "requests to shop.example" in found.remarks
    assert "hunter2" not in text(found, file)
    with pytest.raises(UserError, match=r"no request to x. Its requests go to shop.example and other.example$"):
        convert("har", file, ConvertOptions(hosts=("u:hunter2@x",)))
    with pytest.raises(UserError, match="its URL cannot be read") as error:
        convert("har", har(entry("https://ada:hunter2@[shop/")))
    assert "hunter2" not in str(error.value)


def test_field_names_cannot_add_lines(converted):
    body = json.dumps({HEXADECIMAL: {"token": "hunter2"}, "a\n[[requests]]\x1b[2J": "b"})
    _, written = converted(method="POST", body=body)
    assert not any(secret in written for secret in ("hunter2", HEXADECIMAL, "\x1b"))
    assert written.count("\n[[requests]]") == 1


def test_deep_nesting_is_supported(converted):
    depth = 100_000
    request, _ = converted(method="POST", body="[" * depth + '{"token":"hunter2"}' + "]" * depth)
    assert b"hunter2" not in request.body
