"""Test the warning for an address that other machines can reach."""

import signal

import pytest


@pytest.mark.servers
@pytest.mark.parametrize(
    ("bind", "warned"), [("0.0.0.0", True), pytest.param("127.0.0.1", False, marks=pytest.mark.exhaustive)]
)
def test_public_address_prints_a_warning(cli, bind, warned):
    cli.env["BIND"] = bind
    process = cli.start("serve", "gunicorn")
    lines = []
    for line in process.stdout:
        lines.append(line)
        if line.startswith("logs: "):
            break
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    found = [line for line in lines if line.startswith(f"warning: BIND={bind} listens on ")]
    assert len(found) == warned, lines
    assert all(f"127.0.0.1:{cli.env['PORT']}" in line for line in found)
    assert any(f"on http://127.0.0.1:{cli.env['PORT']}/" in line for line in lines)
    cli.wait_until_nothing_runs()
