"""Test that secrets in a recording aren't written to a workload."""

import json

import pytest

from loadtests.errors import UserError
from loadtests.workload.convert import ConvertOptions, converted
from loadtests.workload.redaction import body as redact_body
from loadtests.workload.redaction import path as redact_path
from loadtests.workload.secrets import telling

SITE = "https://shop.example"
RANDOM = "kX9fQ2mW7vB4nL1pR8sT"
HEXADECIMAL = "9f86d081884c7d659a2feaa0c55ad015"
UUID = "550e8400-e29b-41d4-a716-446655440000"


@pytest.mark.parametrize(
    ("names", "secret"),
    [
        (("X-Auth-Token", "apikey", "X-CSRF", "Set-Cookie", "X-SID", "Authentication", "pw", "inviteCode"), True),
        (("X-Author", "country_code", "ticket_id", "status", "encode", "preset", "sort"), False),
    ],
)
def test_names_mark_secrets(names, secret):
    assert [name for name in names if telling(name) is not secret] == []


@pytest.mark.parametrize(
    ("path", "becomes"),
    [
        ("/?token=hunter2&page=2", "/?token=REPLACED&page=2"),
        ("/?%74oken=hunter2", "/?token=REPLACED"),
        (f"/?q={RANDOM}", "/?q=REPLACED"),
        (f"/?{HEXADECIMAL}=1", "/?REPLACED=1"),
        ("/?next=%2Freset%3Ftoken%3Dhunter2", "/?next=/reset%3Ftoken%3DREPLACED"),
        ("/?back=https%3A%2F%2Fu%3Ahunter2%40a%2F", "/?back=https%3A//REPLACED%40a/"),
        ("/cart;jsessionid=1A2B/", "/cart;jsessionid=REPLACED/"),
        (f"/files/{RANDOM}.pdf", "/files/REPLACED.pdf"),
        # The preceding part of the path shows that the next part is a key.
        (f"/teams/7/invitations/{UUID}/accept", "/teams/7/invitations/REPLACED/accept"),
        (f"/accept-invite?id={UUID}&page=2", "/accept-invite?id=REPLACED&page=2"),
        (f"/activate/{UUID}/", "/activate/REPLACED/"),
        ("/reset/Mjg5MQ/5xk-8c7e21/", "/reset/REPLACED/REPLACED/"),
    ],
)
def test_secrets_in_urls_are_replaced(path, becomes):
    assert redact_path(path) == becomes


@pytest.mark.parametrize(
    "path",
    [
        "/how-to-load-test-a-django-application-2024/",
        f"/static/app.{HEXADECIMAL}.js?v=3.6.0",
        "/?author=ada&sort=price&at=2026-11-21T10:00:00Z&utm_campaign=SUMMER2024SALE",
        "/api/getUserAccountByIdAndNameList?id=1732183200000",
        "/?token=&a",
        f"/orders/{UUID}/lines?id={UUID}",
    ],
)
def test_ordinary_names_are_kept(path):
    assert redact_path(path) == path


FORM, MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data; boundary=X"
PARTS = (
    '--X\r\nContent-Disposition: form-data; name="password"\r\n\r\nhunter2\r\n'
    '--X\r\nContent-Disposition: form-data; name="token"; filename="a"\r\n\r\nA file\r\n'
    '--X\r\nContent-Disposition: form-data; name="size"\r\n\r\n42\r\n--X--\r\n'
)


@pytest.mark.parametrize(
    ("kind", "body", "becomes"),
    [
        (FORM, "name=Ada&password=hunter2&x=", "name=Ada&password=REPLACED&x="),
        ("", '{"user": "Ada", "api_key": "hunter2"}', '{"user":"Ada","api_key":"REPLACED"}'),
        (
            "",
            '{"credentials": {"name": "hunter2", "pin": 1234}}',
            '{"credentials":{"name":"REPLACED","pin":"REPLACED"}}',
        ),
        ("", f'["{RANDOM}", 1, null, true]', '["REPLACED",1,null,true]'),
        ("", '{"query": "{ login(password: \\"hunter2\\") }"}', '{"query":"{ login(password: \\"REPLACED\\") }"}'),
        ("", '{"user": "Ada", "n": [1,  2]}', '{"user": "Ada", "n": [1,  2]}'),
        ("", "<login><password>hunter2 x</password></login>", "<login><password>REPLACED</password></login>"),
        ("", "[" * 100_000 + '{"token":"hunter2"}', "[" * 100_000 + '{"token":"REPLACED"}'),
        (MULTIPART, PARTS, PARTS.replace("hunter2", "REPLACED")),
        (MULTIPART, PARTS.replace("hunter2", "a\r\n-- b\r\nc"), PARTS.replace("hunter2", "REPLACED")),
        (MULTIPART, PARTS.replace("\r", ""), PARTS.replace("\r", "").replace("hunter2", "REPLACED")),
    ],
)
def test_body_keeps_everything_except_secrets(kind, body, becomes):
    assert redact_body(body.encode(), kind) == becomes.encode()


def test_recording_is_redacted_by_default(har, entry):
    page = "https://shop.example/?token=hunter2"
    headers = [("Cookie", "sessionid=hunter2"), ("Accept", "*/*"), ("HX-Current-URL", page)]
    body = json.dumps({HEXADECIMAL: {"token": "hunter2"}, "a\n[[requests]]\x1b[2J": "b"})
    file = har(entry("https://ada:hunter2@shop.example/?sid=hunter2", "POST", headers=headers, body=body))
    found = converted("har", file)
    assert not any(secret in found.text for secret in ("hunter2", HEXADECIMAL, "\x1b"))
    assert found.text.count("\n[[requests]]") == 1
    assert found.remarks[-1] == "REPLACED marks values that may be secret. Fill in other values"
    assert "sessionid=hunter2" in converted("har", file, ConvertOptions(keep_secrets=True)).text


def test_access_log_secrets_are_replaced(log):
    line = '1.2.3.4 - - [21/Nov/2026:10:00:00 +0000] "GET {} HTTP/1.1" 200 5'
    text = converted("log", log(line.format("/?token=hunter2"), line.format("http://u:hunter2@a/b"))).text
    assert 'path = "/?token=REPLACED"' in text
    assert 'path = "/b"' in text
    assert "hunter2" not in text


def test_unreadable_url_is_not_printed(har, entry):
    with pytest.raises(UserError, match="its URL cannot be read") as error:
        converted("har", har(entry("https://ada:hunter2@[shop/")))
    assert "hunter2" not in str(error.value)
