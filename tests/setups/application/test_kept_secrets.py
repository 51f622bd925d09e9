"""Test that neither the run folder nor the output contains a secret from a run's options."""

import json

import pytest

pytestmark = pytest.mark.servers

STUDY = """
setups = ["gunicorn"]
blocks = 1
[tests.page]
kind = "latency"
rate = 20
duration = "300ms"
warmup = "100ms"
"""
WORKLOAD = """
[[requests]]
path = "/?page=1"
headers = { Cookie = "sessionid=s3cret-in-cookie-1", Authorization = "Bearer s3cret-in-bearer-1" }
[[requests]]
path = "/?page=2"
headers = { X-Api-Key = "s3cret-in-header-1" }
"""


def test_secrets_in_options_are_not_kept(command, started, tmp_path):
    files = {"study.toml": STUDY, "work.toml": WORKLOAD, "site.env": "DB_PASSWORD=s3cret-1\nMY_FLAG=s3cret-2"}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    folder = tmp_path / "run"
    _, printed, errors = command(
        "run", tmp_path / "study.toml", "--app", started, "--output", folder, "--ignore-busy",
        "--workload", tmp_path / "work.toml", "--env-file", tmp_path / "site.env",
        "--setup-command", "env API_TOKEN=s3cret-in-command-1 true",
    )  # fmt: skip
    assert (folder / "report.html").is_file(), errors
    [trial] = (json.loads(file.read_text(encoding="utf-8")) for file in (folder / "trials").glob("*.json"))
    assert trial["result"]["sent"] > 0
    kept = {file.name: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    assert len(kept) > 4
    assert [name for name, content in kept.items() if b"s3cret" in content] == []
    assert "s3cret" not in printed + errors
    code, _, errors = command("run", "--resume", folder)
    assert (code, "which run folders don't store. Start a new run" in errors) == (1, True)
