"""Test access logs in the formats of servers and proxies. The samples are written by hand."""

import os
from pathlib import Path

import pytest

from loadtests.errors import UserError
from loadtests.workload.convert import ConvertOptions, to_workload
from tests.workload.conftest import shape

NGINX = (
    '203.0.113.9 - - [21/Nov/2026:10:00:0{second} +0000] "{request}" {status} 612 "-" "Mozilla/5.0 \\x22quoted\\x22"'
)
TIMES = ConvertOptions(times=True)


def line(request="GET / HTTP/1.1", status=200, second=0):
    return NGINX.format(request=request, status=status, second=second)


ROUTED = 'heroku[router]: at=info method=GET path="/a?q=1" host=a.example fwd="1.2.3.4" dyno=web.1 status=200 bytes=2'
BALANCED = '1.2.3.4:50 10.0.0.1:80 0.0 0.1 0.0 200 200 34 366 "GET http://a.example:80/a?q=1 HTTP/1.1" "curl" - -'
UWSGI = (
    "[pid: 9|app: 0|req: 1/1] 1.2.3.4 () {40 vars in 500 bytes} [Sat Nov  7 10:00:02 2026] GET /a?q=1 => generated "
    "2 bytes in 2 msecs (HTTP/1.1 200) 1 headers in 38 bytes (1 switches on core 0)"
)
CADDY = '{"ts":1794045602.5,"logger":"http.log.access","request":{"method":"GET","uri":"/a?q=1"},"status":200}'


@pytest.mark.parametrize(
    ("text", "after_s"),
    [
        ('127.0.0.1:50 - - [07/Nov/2026:10:00:02] "GET /a?q=1" 200 2', 2),  # Daphne
        ('www:443 ::1 - Frank Zappa [07/Nov/2026:10:00:02 +0000] "GET http://www/a?q=1 HTTP/1.0" 200 -\r', 2),
        ('[2026-11-07 10:00:02 +0000] 127.0.0.1 - "GET /a?q=1 HTTP/1.1" 200 0.192', 2),  # Granian
        ('[2026-11-07 10:00:02 +0000] [9] [INFO] ::1:5 - - [07/Nov/2026:10:00:02 +0000] "GET /a?q=1 2" 200 2 "-"', 2),
        ('{"time_local":"07/Nov/2026:10:00:02 +0000","request":"GET /a?q=1 HTTP/1.1","status":"200"}', 2),
        (
            '{"RequestMethod":"GET","RequestPath":"/a?q=1","DownstreamStatus":200,"ts":"2026-11-07T11:00:02+01"}',
            2,
        ),
        (UWSGI, 2),
        (f"h2 2026-11-07T10:00:02.125000Z app/balancer/50dc {BALANCED}", 2.125),
        (f"2026-11-07T10:00:02.125000Z classic {BALANCED}", 2.125),
        (f"2026-11-07T10:00:02.125000+00:00 {ROUTED}", 2.125),
        (f"151 <158>1 2026-11-07T10:00:02.125000+00:00 host {ROUTED.replace('[router]:', ' router -')}", 2.125),
        (CADDY, 2.5),
        (CADDY.replace("1794045602.5", "1794045602500"), 2.5),
    ],
)
def test_default_formats_are_read(log, text, after_s):
    first = '- - - [07/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 0'
    found, _ = to_workload("log", log(first, text), TIMES)
    assert shape(found) == [("GET", "/", 1, 200), ("GET", "/a?q=1", 1, 200)]
    assert found.at == ((0,), (after_s,))


def test_request_is_counted_once_on_heroku(log):
    dyno = '2026-11-07T10:00:02+00:00 app[web.1]: 10.1.2.3 - - [07/Nov/2026:10:00:02 +0000] "GET /a?q=1 HTTP/1.1" 200 2'
    for lines in ((f"2026-11-07T10:00:02+00:00 {ROUTED}", dyno), (dyno,)):
        found, _ = to_workload("log", log(*lines))
        assert shape(found) == [("GET", "/a?q=1", 1, 200)]


def test_log_may_lack_times(log):
    file = log(*(f'INFO:     127.0.0.1:{port} - "GET /caf\u00e9 {port} HTTP/1.1" 200 OK' for port in (52, 51)))
    found, _ = to_workload("log", file)
    assert shape(found) == [("GET", "/caf%C3%A9%2052", 1, 200), ("GET", "/caf%C3%A9%2051", 1, 200)]
    with pytest.raises(UserError, match=r"access.log: was recorded without times. Leave out --keep-times"):
        to_workload("log", file, TIMES)


def test_unsendable_lines_are_counted(log):
    lines = [
        line("POST /login HTTP/1.1", 302), line("\\x16\\x03", 400), line("-", 200), line("GET *"), line("GET /", 101),
        line("GET /gone", 499), line("POST /gone", 408), "INFO: started", "{", line().replace("Nov", "Foo"), "",
        '127.0.0.1:5 - - [07/Nov/2026:10:00:02] "WSCONNECT /chat" 200 -',
    ]  # fmt: skip
    found, remarks = to_workload("log", log(line(), *lines))
    assert shape(found) == [("GET", "/", 1, 200)]
    assert set(remarks[1:]) == {
        "left out: 1 request with a body, which a log does not contain",
        "left out: 3 requests that are not HTTP",
        "left out: 1 request with a path that is not percent-encoded",
        "left out: 1 request without a final answer",
        "left out: 2 requests that were not answered",
        "left out: 3 requests in an unknown format",
    }


def test_requests_spread_over_their_second(log):
    file = log(line(second=2), line("GET /a", second=0), line("GET /a", second=0))
    assert to_workload("log", file, TIMES)[0].at == ((0, 0.5), (2.25,))


def test_most_frequent_requests_are_kept(log):
    partly = [line("GET /b", 304), line("GET /b", 206)]  # a load has no cache, so each request gets the whole file
    rare = [line(f"GET /{number}") for number in range(100)]
    found, remarks = to_workload("log", log(*rare, *partly))
    assert shape(found)[-1] == ("GET", "/b", 2, 200)
    assert "left out: 1 request to rarer URLs" in remarks


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["", " "], r"access.log: is an empty access log"),
        (["INFO: started", "[1]"], r"contains no request that can be sent; left out: 2 requests in an unknown format$"),
    ],
)
def test_other_file_is_refused(log, lines, says):
    with pytest.raises(UserError, match=says):
        to_workload("log", log(*lines))


def test_log_may_come_through_pipe(log):
    reading, writing = os.pipe()
    os.write(writing, log(line("GET /@")).read_bytes().replace(b"@", b"\xff"))
    os.close(writing)
    try:
        assert shape(to_workload("log", Path(f"/dev/fd/{reading}"))[0]) == [("GET", "/%FF", 1, 200)]
    finally:
        os.close(reading)
