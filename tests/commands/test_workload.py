"""Test ``workload``, which converts a recording to a workload file."""

import json

from loadtests.workload import from_toml


def test_access_log_is_converted(command, tmp_path):
    log = tmp_path / "access.log"
    log.write_text('1.2.3.4 - - [21/Nov/2026:10:00:00 +0000] "GET /a[b]?c HTTP/1.1" 200 5\n')
    code, printed, _ = command("workload", "log", log)
    assert (code, 'path = "/a[b]?c"' in printed) == (0, True)


def test_secrets_of_recording_are_dropped(command, tmp_path):
    headers = [{"name": "X-Auth-Token", "value": "hunter2"}, {"name": "Cookie", "value": "sessionid=hunter3"}]
    request = {"method": "GET", "url": "https://u:hunter4@a.example/?token=hunter5&sid=hunter6", "headers": headers}
    entry = {"startedDateTime": "2026-11-21T10:00:00Z", "request": request, "response": {"status": 200}}
    har = tmp_path / "page.har"
    har.write_text(json.dumps({"log": {"entries": [entry]}}))
    code, printed, errors = command("workload", "har", har)
    assert (code, errors) == (0, "")
    assert "hunter" not in printed
    assert "# dropped headers that may be secret: X-Auth-Token, Cookie; --keep-header NAME keeps a header" in printed
    output = tmp_path / "page.toml"
    keep = ("--keep-header", "x-auth-token", "--keep-cookies", "--keep-field", "sid", "--keep-times")
    code, printed, _ = command("workload", "har", har, "--output", output, *keep)
    assert (code, "hunter" in printed) == (0, False)
    found = from_toml.read(output)
    [request] = found.requests
    assert len(found.at) == 1
    assert request.headers == (("X-Auth-Token", "hunter2"), ("Cookie", "sessionid=hunter3"))
    assert request.path == "/?token=REPLACED&sid=hunter6"
