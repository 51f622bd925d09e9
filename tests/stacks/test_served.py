"""Test the installed stack of 2016 (``make stack-2016``). If it isn't installed, the tests are skipped."""

import json
import subprocess
from pathlib import Path

import psutil
import pytest

from loadtests import files, setups
from loadtests.serve.http import Answer
from loadtests.setups import other_stacks
from loadtests.workload import Request
from tests.fixtures.served import processes, served
from tests.fixtures.waiting import wait_for

SETUPS = {name: setup for name, setup in setups.known().items() if setup.stack}
PYTHON = files.ROOT / "stacks" / "2016" / ".venv" / "bin" / "python"
ROOT = Request("root", path="/")

pytestmark = pytest.mark.servers


@pytest.fixture(autouse=True)
def installed():
    [setup] = setups.find(["2016-gunicorn"])
    if (missing := setups.missing(setup)) is not None:
        pytest.skip(missing)


@pytest.mark.parametrize("name", SETUPS)
def test_old_stack_answers_on_loopback(name):
    with served(name, STACK_SETTINGS="today") as running:
        answers = {running.ask(ROOT, 10) for _ in range(5)}
        assert answers == {Answer(200, "text/html; charset=utf-8", b"OK")}
        family = processes(running)
        listening = {
            connection.laddr.ip
            for process in family
            for connection in process.net_connections("inet")
            if connection.status == psutil.CONN_LISTEN
        }
        assert listening == {"127.0.0.1"}
        assert all(part.charged for part in running.parts())
        folder = running.folder
    assert psutil.wait_procs(family, timeout=20)[1] == []
    # asgi_ipc's shared memory was removed, too.
    assert [file.name for file in Path("/dev/shm").glob("*") if folder.name in file.name] == []


@pytest.mark.parametrize("name", SETUPS)
@pytest.mark.parametrize("settings", ["original", "today"])
def test_settings_are_original_or_current(name, settings):
    with served(name, STACK_SETTINGS=settings) as running:
        answer = running.ask(Request("nowhere", path="/nowhere"), 10)
        assert answer.status == 404
        assert (b"DEBUG = True" in answer.body) == (settings == "original")
        # By default, Daphne logs every request and Gunicorn logs none. The check at the start requested /healthz.
        log = running.folder / f"{name}-web.log"
        if settings == "original" and name != "2016-gunicorn":
            wait_for(lambda: "/healthz" in log.read_text(encoding="utf-8"))
        else:
            assert "/healthz" not in log.read_text(encoding="utf-8")


def test_comparison_covers_only_common_pages(cli):
    code, printed, errors = cli.run("check", "2016-gunicorn")
    assert (code, errors) == (0, "")
    assert "the project of 2016 answers GET / and GET /healthz alone" in printed
    assert "each of 2 setups: 0 differences" in printed


def test_run_records_stack_versions():
    found = other_stacks.versions(["2016"])["stack_2016"]
    assert found["Python"].startswith(("3.10.", "3.11."))
    assert (found["daphne"], found["Django"], found["gunicorn"]) == ("0.14.3", "1.11.29", "19.6.0")


def test_channel_map_grows_with_answers():
    command = [PYTHON, "stacks/2016/decay.py", "--remembered", "0", "20", "--times", "2"]
    command += ["--seconds", "0.2", "--json"]
    found = json.loads(subprocess.run(command, cwd=files.ROOT, capture_output=True, check=True, timeout=100).stdout)
    assert found["about"]["asgi_ipc"] == "1.1.0"
    assert found["about"]["msgpack"] == "compiled"
    first, last = found["rows"]
    assert (first["answers"], last["answers"]) == (0, 20)
    assert last["channels"] - first["channels"] == 20
    assert last["map_bytes"] > first["map_bytes"]
    assert [row["in_flight"] for row in found["losses"]] == [1, 10]
    assert all(row["sent"] == row["answered"] + row["lost"] for row in found["losses"])
    assert list(Path("/dev/shm").glob("*bench-decay-*")) == []
