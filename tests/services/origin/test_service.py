"""Test the origin, both as a service of a setup and started by hand."""

import json
import os
import shutil
import signal
import socket
import urllib.request

import pytest

from loadtests import files, hosts
from loadtests.serve.serving import NotServing
from tests.fixtures.served import served
from tests.fixtures.waiting import wait_for


@pytest.mark.exhaustive
@pytest.mark.servers
def test_setup_finds_the_uncharged_origin(tmp_path):
    recipe = tmp_path / "recipe.json"
    recipe.write_text(json.dumps({"body": "mine", "stages": [{"at": 0, "status": 201}]}))
    with served("gunicorn", "origin", ORIGIN_RECIPE=str(recipe)) as running:
        file = running.folder / "origin.url"
        wait_for(file.exists)
        with urllib.request.urlopen(file.read_text().strip()) as response:
            assert (response.status, response.read()) == (201, b"mine")
        assert {(part.role, part.charged) for part in running.parts()} == {("web", True), ("origin", False)}
        [origin] = [part.pid for part in running.parts() if part.role == "origin"]
        os.kill(origin, signal.SIGKILL)
        assert "origin:origin is EXITED" in wait_for(running.failed_service)


@pytest.mark.servers
def test_origin_uses_python_of_harness(tmp_path, monkeypatch):
    """An installed wheel has no .venv, and the first Python on PATH belongs to the servers, not to the harness."""
    shutil.copytree(files.SUPERVISOR, tmp_path / "supervisor")
    for name in ("loadtests", "testproject", "python"):
        (tmp_path / name).symlink_to("/bin/false" if name == "python" else files.ROOT / name)
    monkeypatch.setattr(files, "SUPERVISOR", tmp_path / "supervisor")
    with hosts.at("local").supervise({"PATH": f"{tmp_path}:{os.environ['PATH']}"}) as supervised:
        supervised.start("origin")
        wait_for((supervised.folder / "origin.url").exists)


@pytest.mark.exhaustive
@pytest.mark.servers
def test_wrong_recipe_shows_the_log():
    ended = r"origin:origin is EXITED \(exit status 1\)"
    with (
        pytest.raises(NotServing, match=ended) as raised,
        served("gunicorn", "origin", ORIGIN_RECIPE="slwo") as running,
    ):
        raise NotServing(wait_for(running.failed_service), running.logs())  # the setup may answer before the failure
    assert "unknown recipe 'slwo'. Did you mean slow?" in raised.value.log


@pytest.mark.servers
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_exits_with_status_130(cli, tmp_path, number):
    file = tmp_path / "url"
    process = cli.start("origin", "slow", "--port", 0, "--url-file", file)
    url = process.stdout.readline().split()[0]
    assert file.read_text() == f"{url}\n"
    port = int(url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port)) as held:
        held.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")  # a request in flight doesn't delay the end
        process.send_signal(number)
        _, errors = process.communicate(timeout=10)
    assert (process.returncode, errors) == (130, "error: interrupted\n")
    assert not file.exists()
    cli.wait_until_nothing_runs()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["slow", "--port", "70000"], "--port 70000: must be from 0 to 65,535"),
        (["slwo"], "unknown recipe 'slwo'. Did you mean slow?"),
        (["nothing.json"], "nothing.json: cannot be read: No such file or directory"),
        (["/dev/zero"], "/dev/zero: cannot be read: it is not a regular file"),
    ],
)
def test_invalid_options_are_clear_errors(refused, arguments, says):
    assert refused("origin", *arguments) == f"error: {says}\n"


def test_taken_port_is_a_clear_error(refused):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        says = refused("origin", "slow", "--port", port)
        assert says == f"error: port {port} of 127.0.0.1 is taken. Choose another port: --port 0 uses any free port\n"
