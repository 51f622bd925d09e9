"""Test HAR files in the format of browsers. The samples are written by hand."""

import json
import zipfile

import pytest

from loadtests.errors import UserError
from loadtests.workload import from_toml
from loadtests.workload.convert import ConvertOptions, convert, converted, text, write
from loadtests.workload.redaction import Keep

SITE = "https://shop.example"


def requests(found):
    return [(request.method, request.path, request.weight, request.status) for request in found.workload.requests]


def test_first_host_becomes_a_workload(har, entry):
    file = har(
        entry(f"{SITE}/"),
        entry(f"{SITE}/static/app.js?v=1", status=304),  # a load has no cache, so each request gets the whole file
        entry("https://cdn.example/font.woff"),
        entry(f"{SITE}/static/app.js?v=1", status=304),
        entry(f"{SITE}/cart", "POST", 201, headers=[("Content-Type", "application/json")], body='{"id": 1}'),
        entry("http://shop.example/"),  # the same host with another scheme
    )
    found = convert("har", file)
    assert requests(found) == [("GET", "/", 2, 200), ("GET", "/static/app.js?v=1", 2, 200), ("POST", "/cart", 1, 201)]
    assert found.workload.requests[2].body == b'{"id": 1}'
    assert found.workload.at == ()
    assert found.remarks == (
        "requests used: 5, different requests: 3",
        "requests to shop.example",
        "left out: 1 request to other hosts; --host chooses another",
        "kept headers: Content-Type",
        "kept query parameters and fields: v, id",
    )


def test_host_can_be_chosen(har, entry):
    file = har(entry(f"{SITE}/"), entry("http://localhost:8000/api"))
    assert requests(convert("har", file, ConvertOptions(hosts=("LOCALHOST:8000",)))) == [("GET", "/api", 1, 200)]
    with pytest.raises(UserError, match=r"no request to localhost. Its requests go to shop.example and localhost:8000"):
        convert("har", file, ConvertOptions(hosts=("localhost",)))


def test_content_headers_are_kept(har, entry):
    given = {
        ":authority": "shop.example", "Host": "shop.example", "Accept": "text/html", "accept-encoding": "gzip",
        "Accept-Language": "cy", "HX-Request": "true", "Connection": "keep-alive", "Content-Length": "1",
        "Sec-Fetch-Mode": "cors", "If-None-Match": '"a"', "Referer": SITE, "Origin": SITE, "Cache-Control": "no-cache",
    }  # fmt: skip
    [request] = convert("har", har(entry(f"{SITE}/", headers=given.items()))).workload.requests
    assert [name for name, _ in request.headers] == ["Accept", "accept-encoding", "Accept-Language", "HX-Request"]


def test_credentials_are_dropped_by_default(har, entry):
    secret = [("Cookie", "sessionid=1"), ("authorization", "Bearer 2"), ("X-CSRFToken", "3"), ("Accept", "*/*")]
    file = har(entry(f"{SITE}/", headers=secret), entry(f"{SITE}/a"))
    dropped = convert("har", file)
    assert dropped.workload.requests[0].headers == (("Accept", "*/*"),)
    assert "sessionid" not in text(dropped, file)
    kept = convert("har", file, ConvertOptions(keep=Keep(cookies=True)))
    assert kept.workload.requests[0].headers == tuple(secret)
    names = "header Cookie, header authorization, header X-CSRFToken"
    assert f"kept, although it may be secret: {names}; keep the file to yourself" in kept.remarks


NOT_ASKED = ["data:image/png;base64,AAAA", "blob:https://shop.example/1", "wss://shop.example/live", "ws://a.example/"]


def test_unsent_requests_are_omitted(har, entry):
    file = har(
        entry(f"{SITE}/"),
        entry(f"{SITE}/cached", _fromCache="disk"),
        entry(f"{SITE}/aborted", status=0),
        entry(f"{SITE}/ws", status=101),
        entry(f"{SITE}/brew", "BREW"),
        *map(entry, NOT_ASKED),
    )
    found = convert("har", file)
    assert requests(found) == [("GET", "/", 1, 200)]
    assert set(found.remarks[2:]) == {
        "left out: 2 requests that opened a WebSocket",
        "left out: 2 requests that went to no server (blob, data)",
        "left out: 1 request that the browser's cache answered",
        "left out: 2 requests without a final answer",
        "left out: 1 request with a method that is not sent (BREW)",
    }


def posted(entry, path, **data):
    """Return a recorded request with this body."""
    found = entry(f"{SITE}{path}", "POST", body=data.pop("body", None))
    found["request"].setdefault("postData", {}).update(data)
    return found


def test_readable_bodies_are_kept(har, entry):
    form = {"mimeType": "application/x-www-form-urlencoded", "params": [{"name": "a", "value": "1 2"}, {"name": "b"}]}
    upload = {"mimeType": "multipart/form-data", "params": [{"name": "f", "fileName": "a.png"}]}
    unknown = entry(f"{SITE}/unknown", "PUT")
    unknown["request"]["bodySize"] = 9
    binary = posted(entry, "/binary", body="/w==", encoding="base64")
    found = convert("har", har(posted(entry, "/form", **form), posted(entry, "/upload", **upload), unknown, binary))
    sent = [(request.path, request.body) for request in found.workload.requests]
    assert sent == [("/form", b"a=1+2&b="), ("/binary", b"\xff")]
    assert found.workload.requests[0].headers == (("Content-Type", "application/x-www-form-urlencoded"),)
    assert "left out: 2 requests whose body was not recorded" in found.remarks
    assert "kept as recorded: 1 file or body that cannot be read as text" in found.remarks


def test_unsupported_content_type_is_omitted(har, entry):
    recorded = posted(entry, "/odd", mimeType=[None], text="a=1")
    found = converted("journey", har(entry(f"{SITE}/"), recorded))
    assert "left out: 1 request whose body isn't a form ([none]); write it by hand" in found.remarks


def test_different_bodies_are_different_requests(har, entry):
    found = convert("har", har(*(entry(f"{SITE}/graphql", "POST", body=body) for body in ("1", "2", "1"))))
    named = [(request.name, request.weight) for request in found.workload.requests]
    assert named == [("POST /graphql", 2), ("POST /graphql (2)", 1)]


def test_times_are_kept_if_requested(har, entry):
    file = har(
        entry(f"{SITE}/b", at="2026-11-21T10:00:01.5Z"),
        entry(f"{SITE}/a", at="2026-11-21T11:00:00.000+01:00"),
        entry(f"{SITE}/a", at="2026-11-21T10:00:03.123456789Z"),
    )
    found = convert("har", file, ConvertOptions(times=True))
    assert found.workload.at == ((1.5,), (0, 3.123456))
    assert found.workload.replay().sends == ((0, 1), (1.5, 0), (3.123456, 1))


def test_decoded_characters_are_encoded(har, entry):
    found = convert("har", har(entry(f"{SITE}/caf\u00e9/a%2Fb?q=a b&\ud800#top")))
    assert requests(found) == [("GET", "/caf%C3%A9/a%2Fb?q=a%20b&?", 1, 200)]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("<html>", r"page.har: is not a HAR file, because the text is not JSON: Expecting value"),
        ("[" * 100_000, r"is not a HAR file, because the JSON is nested too deeply"),
        ("[]", r"is not a HAR file, because the JSON has no log.entries"),
        ('{"log": {"entries": {}}}', r"is not a HAR file, because the JSON has no log.entries"),
        ('{"log": {"entries": []}}', r"an empty HAR file"),
        ('{"log": {"entries": [1]}}', r"page.har: entry 1 is not valid in a HAR file"),
        ('{"log": {"entries": [{"request": {"url": "http://a/"}}]}}', r"entry 1 is not valid in a HAR file .KeyError"),
    ],
)
def test_other_har_file_is_refused(tmp_path, content, says):
    file = tmp_path / "page.har"
    file.write_text(content)
    with pytest.raises(UserError, match=says) as error:
        convert("har", file)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("url", "recorded", "says"),
    [
        (SITE, {"status": 0}, r"contains no request that can be sent; .*left out: 1 request without a final answer"),
        ("data:,a", {}, r"contains no request to a web server$"),
        (SITE, {"at": "noon"}, r"entry 1 .*'noon' is not a time"),
    ],
)
def test_recording_without_requests_is_refused(har, entry, url, recorded, says):
    with pytest.raises(UserError, match=says):
        convert("har", har(entry(url, **recorded)))


def test_written_file_is_a_workload(har, entry, tmp_path):
    file = har(entry(f"{SITE}/"), entry(f"{SITE}/a", "POST", 302, body="x"), entry(f"{SITE}/"))
    found = converted("har", file, ConvertOptions(times=True))
    output = tmp_path / "out.toml"
    write(found, output)
    assert from_toml.read(output) == convert("har", file, ConvertOptions(times=True)).workload
    assert output.read_text().startswith("# From page.har.\n# requests used: 3, different requests: 2\n")
    with pytest.raises(UserError, match=r"out.toml already exists. Name another file with --output"):
        write(found, output)
    with pytest.raises(UserError, match=r"cannot write .*out.toml: No such file"):
        write(found, tmp_path / "none" / "out.toml")


def recorded_with(har, entry, **data):
    file = har(entry(f"{SITE}/form/", "POST"))
    recorded = json.loads(file.read_text())
    recorded["log"]["entries"][0]["request"]["postData"] = {"mimeType": "application/x-www-form-urlencoded", **data}
    file.write_text(json.dumps(recorded))
    return file


def test_attached_body_file_is_read(har, entry):
    file = recorded_with(har, entry, params=[], _file="body.bin")
    with pytest.raises(UserError, match="left out: 1 request whose body was not recorded"):
        convert("har", file)
    (file.parent / "body.bin").write_bytes(b"a=1&b=2")
    assert convert("har", file).workload.requests[0].body == b"a=1&b=2"
    with zipfile.ZipFile(archive := file.parent / "all.zip", "w") as opened:
        opened.write(file, "recording.har")
        opened.write(file.parent / "body.bin", "body.bin")
    assert convert("har", archive).workload.requests[0].body == b"a=1&b=2"
    archive.write_bytes(archive.read_bytes().replace(b"a=1&b=2", b"a=1&b=3"))
    with pytest.raises(UserError, match=r"all.zip: is a damaged or encrypted zip archive. Unpack it, and convert its"):
        convert("har", archive)


def test_recording_may_lack_times(har, entry):
    file = har(entry(f"{SITE}/form/"), entry(f"{SITE}/form/", "POST", 302, body="a=1&b=2"), entry(f"{SITE}/"))
    recorded = json.loads(file.read_text())
    for minimal in recorded["log"]["entries"]:  # Playwright's minimal mode
        del minimal["startedDateTime"], minimal["request"]["bodySize"]
    file.write_text(json.dumps(recorded))
    found = convert("har", file)
    assert requests(found) == [("GET", "/form/", 1, 200), ("POST", "/form/", 1, 302), ("GET", "/", 1, 200)]
    assert found.workload.requests[1].body == b"a=1&b=2"
    with pytest.raises(UserError, match=r"was recorded without times. Leave out --keep-times"):
        convert("har", file, ConvertOptions(times=True))


def test_host_must_be_chosen(har, entry):
    file = har(entry("http://one.example/t/"), entry("http://two.example/t/"), entry("http://cdn.example/"))
    found = convert("har", file, ConvertOptions(hosts=("one.example", "two.example")))
    assert [(one.name, one.headers) for one in found.workload.requests] == [
        ("GET /t/", (("Host", "one.example"),)),
        ("GET /t/ (2)", (("Host", "two.example"),)),
    ]
    assert "requests to one.example and two.example" in found.remarks
