import json

import pytest


@pytest.fixture
def entry():
    """Return a function that returns an entry of a HAR file, as browsers write it."""

    def make(url, method="GET", status=200, at="2026-11-21T10:00:00.000Z", headers=(), body=None, **more):
        request = {
            "method": method,
            "url": url,
            "headers": [{"name": name, "value": value} for name, value in headers],
            "bodySize": len(body or ""),
        }
        if body is not None:
            request["postData"] = {"mimeType": "application/json", "text": body}
        return {"startedDateTime": at, "request": request, "response": {"status": status}, **more}

    return make


@pytest.fixture
def har(tmp_path):
    """Return a function that writes a HAR file with these entries."""

    def write(*entries):
        file = tmp_path / "page.har"
        file.write_text(json.dumps({"log": {"version": "1.2", "entries": entries}}), encoding="utf-8")
        return file

    return write


@pytest.fixture
def log(tmp_path):
    """Return a function that writes an access log with these lines."""

    def write(*lines):
        file = tmp_path / "access.log"
        file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return file

    return write


def shape(workload):
    """Return the method, path, weight and status of each request of a workload."""
    return [(request.method, request.path, request.weight, request.status) for request in workload.requests]
