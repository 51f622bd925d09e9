"""Test HAR files in the format of browsers. The samples are written by hand."""

import json

import pytest

from loadtests.errors import UserError
from loadtests.workload import from_toml
from loadtests.workload.convert import ConvertOptions, converted, to_workload, write
from tests.workload.conftest import shape

SITE = "https://shop.example"
TIMES = ConvertOptions(times=True)


def test_first_host_becomes_a_workload(har, entry):
    file = har(
        entry(f"{SITE}/"),
        entry(f"{SITE}/static/app.js?v=1", status=304),  # a load has no cache, so each request gets the whole file
        entry("https://cdn.example/font.woff"),
        entry(f"{SITE}/static/app.js?v=1", status=304),
        entry(f"{SITE}/cart", "POST", 201, headers=[("Content-Type", "application/json")], body='{"id": 1}'),
        entry("http://shop.example/"),  # the same host with another scheme
        entry(f"{SITE}/caf\u00e9/a%2Fb?q=a b&\ud800#top"),
        entry(f"{SITE}/cached", _fromCache="disk"),
        entry(f"{SITE}/aborted", status=0),
        entry(f"{SITE}/brew", "BREW"),
        entry("data:image/png;base64,AAAA"),
        entry("wss://shop.example/live"),
    )
    found, remarks = to_workload("har", file)
    assert shape(found) == [
        ("GET", "/", 2, 200), ("GET", "/static/app.js?v=1", 2, 200), ("POST", "/cart", 1, 201),
        ("GET", "/caf%C3%A9/a%2Fb?q=a%20b&?", 1, 200),
    ]  # fmt: skip
    assert found.requests[2].body == b'{"id": 1}'
    assert found.at == ()
    assert remarks == [
        "requests used: 6, different requests: 4",
        "requests to shop.example",
        "left out: 1 request to other hosts; --host chooses another",
        "left out: 1 request that the browser's cache answered",
        "left out: 2 requests that opened a WebSocket or went to no server",
        "left out: 1 request without a final answer",
        "left out: 1 request with a method that is not sent",
    ]


def test_hosts_can_be_chosen(har, entry):
    file = har(entry("http://one.example/t/"), entry("http://TWO.example:8000/t/"), entry("http://cdn.example/"))
    found, remarks = to_workload("har", file, ConvertOptions(hosts=("one.example", "two.example:8000")))
    assert [(one.name, one.headers) for one in found.requests] == [
        ("GET /t/", (("Host", "one.example"),)),
        ("GET /t/ (2)", (("Host", "two.example:8000"),)),
    ]
    assert "requests to one.example and two.example:8000" in remarks
    with pytest.raises(UserError, match=r"no request to localhost. Its requests go to one.example, two.example:8000"):
        to_workload("har", file, ConvertOptions(hosts=("localhost",)))


def test_content_headers_are_kept(har, entry):
    given = {
        ":authority": "shop.example", "Host": "shop.example", "Accept": "text/html", "accept-encoding": "gzip",
        "HX-Request": "true", "Connection": "keep-alive", "Sec-Fetch-Mode": "cors", "If-None-Match": '"a"',
        "Cookie": "sessionid=1", "authorization": "Bearer 2",
    }  # fmt: skip
    file = har(entry(f"{SITE}/", headers=given.items()))
    names = ["Accept", "accept-encoding", "HX-Request"]
    for keep, kept in ((False, names), (True, [*names, "Cookie", "authorization"])):
        [request] = to_workload("har", file, ConvertOptions(keep_secrets=keep))[0].requests
        assert [name for name, _ in request.headers] == kept


def posted(entry, path, **data):
    """Return a recorded request with this body."""
    found = entry(f"{SITE}{path}", "POST", body=data.pop("body", None))
    found["request"].setdefault("postData", {}).update(data)
    return found


def test_readable_bodies_are_kept(har, entry):
    form = {"mimeType": "application/x-www-form-urlencoded", "params": [{"name": "a", "value": "1 2"}, {"name": "b"}]}
    upload = {"mimeType": "multipart/form-data", "params": [{"name": "f", "fileName": "a.png"}]}
    attached = {"mimeType": "application/x-www-form-urlencoded", "params": [], "_file": "body.bin"}  # by Playwright
    unknown = entry(f"{SITE}/unknown", "PUT")
    unknown["request"]["bodySize"] = 9
    left = (posted(entry, "/upload", **upload), posted(entry, "/attached", **attached), unknown)
    binary = posted(entry, "/binary", body="/w==", encoding="base64")
    texts = (entry(f"{SITE}/graphql", "POST", body=body) for body in ("1", "2", "1"))
    found, remarks = to_workload("har", har(posted(entry, "/form", **form), *left, binary, *texts))
    assert [(one.name, one.body, one.weight) for one in found.requests] == [
        ("POST /form", b"a=1+2&b=", 1),
        ("POST /binary", b"\xff", 1),
        ("POST /graphql", b"1", 2),
        ("POST /graphql (2)", b"2", 1),
    ]
    assert found.requests[0].headers == (("Content-Type", "application/x-www-form-urlencoded"),)
    assert "left out: 3 requests whose body was not recorded" in remarks


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("<html>", r"page.har: is not a recording, because the text is not JSON: Expecting value"),
        ("[" * 100_000, r"is not a recording, because the text is not JSON: maximum recursion"),
        ("[]", r"is not a HAR file, because the JSON has no log.entries"),
        ('{"log": {"entries": []}}', r"contains no request to a web server$"),
        ('{"log": {"entries": [{"request": {"url": "http://a/"}}]}}', r"entry 1 is not valid in a HAR file .KeyError"),
    ],
)
def test_other_har_file_is_refused(tmp_path, content, says):
    file = tmp_path / "page.har"
    file.write_text(content)
    with pytest.raises(UserError, match=says) as error:
        to_workload("har", file)
    assert "\n" not in str(error.value)


def test_written_file_is_a_workload(har, entry, tmp_path):
    file = har(
        entry(f"{SITE}/b", "POST", 302, at="2026-11-21T10:00:01.5Z", body="x"),
        entry(f"{SITE}/a", at="2026-11-21T11:00:00.000+01:00"),
        entry(f"{SITE}/a", at="2026-11-21T10:00:03.123456789Z"),
    )
    found = converted("har", file, TIMES)
    output = tmp_path / "out.toml"
    write(found, output)
    read = from_toml.read(output)
    assert read == to_workload("har", file, TIMES)[0]
    assert read.replay().sends == ((0, 1), (1.5, 0), (3.123456, 1))
    assert output.read_text().startswith("# From page.har.\n# requests used: 3, different requests: 2\n")
    with pytest.raises(UserError, match=r"out.toml already exists. Name another file with --output"):
        write(found, output)


def test_recording_may_lack_times(har, entry):
    file = har(entry(f"{SITE}/form/"), entry(f"{SITE}/form/", "POST", 302, body="a=1&b=2"), entry(f"{SITE}/"))
    recorded = json.loads(file.read_text())
    for minimal in recorded["log"]["entries"]:  # Playwright's minimal mode
        del minimal["startedDateTime"], minimal["request"]["bodySize"]
    file.write_text(json.dumps(recorded))
    found, _ = to_workload("har", file)
    assert shape(found) == [("GET", "/form/", 1, 200), ("POST", "/form/", 1, 302), ("GET", "/", 1, 200)]
    assert found.requests[1].body == b"a=1&b=2"
    with pytest.raises(UserError, match=r"was recorded without times. Leave out --keep-times"):
        to_workload("har", file, TIMES)
