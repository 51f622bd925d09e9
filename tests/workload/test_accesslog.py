"""Test access logs in the default formats of servers, proxies and load balancers. The samples are written by hand."""

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


ROUTED = 'heroku[router]: at=info method=GET path="/a?q=1" host=a.example fwd="1.2.3.4" dyno=web.1 status=200 bytes=2'
BALANCED = '1.2.3.4:50 10.0.0.1:80 0.0 0.1 0.0 200 200 34 366 "GET http://a.example:80/a?q=1 HTTP/1.1" "curl" - -'
UWSGI = (
    "[pid: 9|app: 0|req: 1/1] 1.2.3.4 () {40 vars in 500 bytes} [Sat Nov  7 10:00:02 2026] GET /a?q=1 => generated "
    "2 bytes in 2 msecs (HTTP/1.1 200) 1 headers in 38 bytes (1 switches on core 0)"
)
TRAEFIK = '{"RequestMethod":"GET","RequestPath":"/a?q=1","DownstreamStatus":200,"StartUTC":"2026-11-07T10:00:02.5Z"}'
CADDY = '{"ts":1794045602.5,"logger":"http.log.access","request":{"method":"GET","uri":"/a?q=1"},"status":200}'


@pytest.mark.parametrize(
    ("text", "after_s"),
    [
        ('127.0.0.1:50 - - [07/Nov/2026:10:00:02] "GET /a?q=1" 200 2', 2),  # Daphne
        ('1.2.3.4 - - [07/Nov/2026:10:00:02 +0000] "GET /a?q=1 HTTP/1.1" 200 2 "-" "-" 1 "r@file" "http://a" 1ms', 2),
        (UWSGI, 2),
        (f"{{address space usage: 1 bytes/0MB}} {{rss usage: 1 bytes/0MB}} {UWSGI}", 2),
        (f"h2 2026-11-07T10:00:02.125000Z app/balancer/50dc {BALANCED}", 2.125),
        (f"2026-11-07T10:00:02.125000Z classic {BALANCED}", 2.125),
        (f"2026-11-07T10:00:02.125000+00:00 {ROUTED}", 2.125),
        (f"151 <158>1 2026-11-07T10:00:02.125000+00:00 host {ROUTED.replace('[router]:', ' router -')}", 2.125),
        ('{"time_local":"07/Nov/2026:10:00:02 +0000","request":"GET /a?q=1 HTTP/1.1","status":"200"}', 2),
        ('{"time":"2026-11-07T11:00:02+01:00","request_method":"GET","request_uri":"/a?q=1","status":200}', 2),
        ('{"msec":"1794045602.250","method":"GET","uri":"/a","args":"q=1","status":200}', 2.25),
        (TRAEFIK, 2.5),
        (CADDY, 2.5),
        (CADDY.replace("1794045602.5", "1794045602500"), 2.5),
    ],
)
def test_default_formats_are_read(log, text, after_s):
    first = '- - - [07/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 0'
    found = convert("log", log(first, text), ConvertOptions(times=True))
    assert requests(found) == [("GET", "/", 1, 200), ("GET", "/a?q=1", 1, 200)]
    assert found.workload.at == ((0,), (after_s,))


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        (
            '[2026-11-07 10:00:02 +0000] 127.0.0.1 - "GET /caf\u00e9 au lait HTTP/1.1" 200 0.192',
            "the log contains no query strings, because Granian leaves them out",
        ),
        (
            '[2026-11-07 10:00:02 +0000] [9] [INFO] ::1:50 - - [07/Nov/2026:10:00:02 +0000] "GET /caf\u00e9 au lait 2" '
            '200 2 "-" "curl"',
            "the log contains no query strings, because Hypercorn leaves them out",
        ),
    ],
)
def test_decoded_paths_are_encoded(log, text, remark):
    found = convert("log", log(text), ConvertOptions(times=True))
    assert requests(found) == [("GET", "/caf%C3%A9%20au%20lait", 1, 200)]
    assert found.remarks[1:] == (remark,)


def test_log_may_lack_times(log):
    file = log(*(f'INFO:     127.0.0.1:{port} - "GET /{port} HTTP/1.1" 200 OK' for port in (52, 51)))
    found = convert("log", file)
    assert requests(found) == [("GET", "/52", 1, 200), ("GET", "/51", 1, 200)]
    assert found.remarks[1:] == ("the log contains no times, because Uvicorn leaves them out",)
    with pytest.raises(UserError, match=r"access.log: was recorded without times. Leave out --keep-times"):
        convert("log", file, ConvertOptions(times=True))


@pytest.mark.parametrize(
    ("lines", "remarks"),
    [
        (
            [line("POST /login HTTP/1.1", 302), line("DELETE /1 HTTP/1.1", 204)],
            "left out: 2 requests with a body, which a log does not contain (DELETE, POST)",
        ),
        ([line("\\x16\\x03", 400), line("-", "408")], "left out: 2 requests that are not HTTP"),
        (
            [
                'INFO:     1.2.3.4:50 - "WebSocket /chat" [accepted]',
                '127.0.0.1:5 - - [07/Nov/2026:10:00:02] "WSCONNECT /chat" - -',
                '{"time":"2026-11-07T10:00:02Z","request":"","status":400}',
            ],
            "left out: 3 requests that are not HTTP",
        ),
        ([line("GET * HTTP/1.1")], "left out: 1 request with a path that is not percent-encoded"),
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


def test_requests_of_routers_count_once(log):
    found = convert(
        "log", log(f"2026-11-07T10:00:02.1Z {ROUTED}", f"2026-11-07T10:00:02.2Z app[web.1]: {line('GET /a?q=1')}")
    )
    assert requests(found) == [("GET", "/a?q=1", 1, 200)]
    assert "left out: 1 request that Heroku's router logged, too" in found.remarks


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
        (
            ["", "INFO: started"],
            r"access.log: line 2 is in an unknown format. The known formats are Hypercorn, common and combined "
            r"\(nginx, Apache, Gunicorn, Daphne, Traefik\), Granian, Uvicorn, uWSGI, Amazon's load balancers, Heroku's "
            r"router and JSON \(nginx, Caddy, Traefik\)$",
        ),
        (
            [line(), "INFO", line(), "INFO", "INFO"],
            r"access.log: line 2 and 2 more are in an unknown format. --skip-unknown leaves them out$",
        ),
        (['{"level": "info", "msg": "started"}', "{", "[1]"], r"line 1 and 2 more are in an unknown format"),
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
    assert requests(found) == [("GET", "/", 1, 200), ("GET", "/%FF", 1, 200)]
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
