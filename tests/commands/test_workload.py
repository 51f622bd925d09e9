"""Test ``workload``, which converts a recording to a workload file."""

import json

from loadtests.workload import from_toml


def test_secrets_of_recording_are_dropped(command, tmp_path):
    headers = [{"name": "Accept", "value": "*/*"}, {"name": "Cookie", "value": "sessionid=hunter3"}]
    request = {"method": "GET", "url": "https://u:hunter4@a.example/?token=hunter5", "headers": headers}
    entry = {"startedDateTime": "2026-11-21T10:00:00Z", "request": request, "response": {"status": 200}}
    har = tmp_path / "page.har"
    har.write_text(json.dumps({"log": {"entries": [entry]}}))
    code, printed, errors = command("workload", "har", har)
    assert (code, errors, "hunter" in printed) == (0, "", False)
    output = tmp_path / "page.toml"
    code, printed, _ = command("workload", "har", har, "--output", output, "--keep-secrets", "--keep-times")
    assert (code, "hunter" in printed) == (0, False)
    [request] = from_toml.read(output).requests
    assert request.headers == (("Accept", "*/*"), ("Cookie", "sessionid=hunter3"))
    assert request.path == "/?token=hunter5"
