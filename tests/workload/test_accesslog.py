"""Test access logs in the formats of nginx, Apache and Gunicorn. The samples are written by hand."""

import os
from pathlib import Path

import pytest

from loadtests.errors import UserError
from loadtests.workload import accesslog
from loadtests.workload.convert import ConvertOptions, convert
from loadtests.workload.redaction import Keep

NGINX = (
    '203.0.113.9 - - [21/Nov/2026:10:00:0{second} +0000] "{request}" {status} 612 "-" "Mozilla/5.0 \\x22quoted\\x22"'
)


def line(request="GET / HTTP/1.1", status=200, second=0):
    return NGINX.format(request=request, status=status, second=second)


def test_very_long_line_is_unknown(log):
    with pytest.raises(UserError, match="line 1 is in an unknown format"):
        convert("log", log(line(f"GET /{'a' * 100_000} HTTP/1.1"), line()))


def test_very_long_log_is_refused(log, monkeypatch):
    monkeypatch.setattr(accesslog, "MAX_REQUESTS", 2)
    with pytest.raises(UserError, match=r"contains more than 2 requests. Use a part, as with head"):
        convert("log", log(*[line()] * 3))


def requests(found):
    return [(request.method, request.path, request.weight, request.status) for request in found.workload.requests]


@pytest.mark.parametrize(
    "text",
    [
        '127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 200 2326',  # common
        '::1 - Frank Zappa [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 200 -',
        'www.example:443 192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.1" 200 23 "-" "curl"',  # vhost
        '- - - [10/Oct/2000:13:55:36 +0000] "GET /a HTTP/1.1" 200 23 "-" "curl \\"x\\""',  # Gunicorn on a Unix socket
        '1.2.3.4 - - [10/Oct/2000:13:55:36 +0000] "GET /a HTTP/1.1" 200 23 "-" "curl" 0.003 "more"',  # more fields
        '1.2.3.4 - - [10/Oct/2000:13:55:60 +0000] "GET http://www.example/a HTTP/1.1" 200 23\r',
    ],
)
def test_common_formats_are_read(log, text):
    assert requests(convert("log", log(text))) == [("GET", "/a", 1, 200)]


@pytest.mark.parametrize(
    ("lines", "remarks"),
    [
        (
            [line("POST /login HTTP/1.1", 302), line("DELETE /1 HTTP/1.1", 204)],
            "left out: 2 requests with a body, which a log does not contain (DELETE, POST)",
        ),
        ([line("\\x16\\x03", 400), line("-", "408")], "left out: 2 requests that are not HTTP"),
        ([line("GET /\u00e9 HTTP/1.1")], "left out: 1 request with a path that is not percent-encoded"),
        ([line("GET /no HTTP/1.1", 101)], "left out: 1 request without a final answer"),
        *(
            (
                [line("GET /gone HTTP/1.1", status), line("POST /gone HTTP/1.1", status)],
                f"left out: 2 requests that were not answered (status {status} in the log)",
            )
            for status in ("408", "444", "499")
        ),
    ],
)
def test_unsendable_lines_are_omitted_with_message(log, lines, remarks):
    found = convert("log", log(line(), *lines))
    assert requests(found) == [("GET", "/", 1, 200)]
    assert found.remarks[1:] == (remarks,)


def test_requests_spread_over_their_second(log):
    file = log(line(second=2), line("GET /a", second=0), line("GET /a", second=0))
    found = convert("log", file, ConvertOptions(times=True))
    assert found.workload.at == ((0, 0.5), (2.25,))


def test_most_frequent_requests_are_kept(log):
    partly = [line("GET /b", 304), line("GET /b", 206)]  # a load has no cache, so each request gets the whole file
    found = convert("log", log(line("GET /a"), *partly, line("GET /c")), ConvertOptions(max_requests=2))
    assert requests(found) == [("GET", "/a", 1, 200), ("GET", "/b", 2, 200)]
    assert "left out: 1 request to 1 rarer URL; --max-requests keeps more" in found.remarks


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["", " "], r"access.log: is an empty access log"),
        (["INFO: started"], r"access.log: line 1 is in an unknown format \(common, combined, Gunicorn's default\)$"),
        ([line(), "INFO", line(), "INFO", "INFO"], r"line 2 and 2 more are in an unknown format .*; --skip-unknown"),
        ([line().replace("Nov", "Foo")], r"line 1 is in an unknown format"),
        ([line().replace("21/", "31/")], r"line 1 is in an unknown format"),
        ([line("POST / HTTP/1.1")], r"contains no request that can be sent"),
    ],
)
def test_other_file_is_refused(log, lines, says):
    with pytest.raises(UserError, match=says) as error:
        convert("log", log(*lines))
    assert "\n" not in str(error.value)


def test_unknown_lines_can_be_skipped(log):
    file = log("INFO: started", line())
    file.write_bytes(file.read_bytes() + line("GET /@ HTTP/1.1").encode().replace(b"@", b"\xff") + b"\n")
    found = convert("log", file, ConvertOptions(skip_unknown=True))
    assert requests(found) == [("GET", "/", 1, 200)]
    assert "left out: 1 request in an unknown format" in found.remarks
    with pytest.raises(UserError, match="line 1 is in an unknown format"):
        convert("log", log("INFO: started"), ConvertOptions(skip_unknown=True))


def test_missing_file_is_clear_error(tmp_path):
    with pytest.raises(UserError, match=r"none.log: cannot be read: No such file"):
        convert("log", tmp_path / "none.log")


@pytest.mark.parametrize(
    ("kind", "options", "says"),
    [
        ("hra", {}, r"unknown kind of recording 'hra'. Did you mean har"),
        ("log", {"hosts": ("a",)}, r"--host, --keep-cookies and --keep-header are for a HAR file"),
        ("log", {"keep": Keep(cookies=True)}, r"--host, --keep-cookies and --keep-header are for a HAR file"),
        ("log", {"keep": Keep(headers=("X",))}, r"--host, --keep-cookies and --keep-header are for a HAR file"),
        ("har", {"skip_unknown": True}, r"--skip-unknown is for the lines of an access log"),
    ],
)
def test_wrong_kind_of_option_is_refused(log, kind, options, says):
    with pytest.raises(UserError, match=says):
        convert(kind, log(line()), ConvertOptions(**options))


def test_log_may_come_through_pipe(log):
    reading, writing = os.pipe()
    os.write(writing, log(line()).read_bytes())
    os.close(writing)
    try:
        assert requests(convert("log", Path(f"/dev/fd/{reading}"))) == [("GET", "/", 1, 200)]
    finally:
        os.close(reading)
