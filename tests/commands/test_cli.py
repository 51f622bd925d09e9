"""Wrong input gets one clear line and an exit code that is not zero."""

import json
import socket

import pytest


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "first-lok"], "unknown study 'first-lok'; did you mean first-look?"),
        (["run"], "name a study (2016, capacity, first-look"),
        (["run", "nothing.toml"], "there is no study file nothing.toml"),
        (["run", "--resume", "/tmp"], "/tmp is not a run folder (has no run.json)"),
        (["report", "nothing"], "nothing is not a run folder (does not exist)"),
        (["check", "daphne-icp"], "unknown setup 'daphne-icp'; did you mean daphne-ipc"),
        (["serve", "iis"], "unknown setup 'iis'; there are: "),
        (["load", "ftp://127.0.0.1/"], "is not a URL that load can be sent to"),
        (["load", "http://192.0.2.1/", "--rate", "1"], "192.0.2.1 is not this machine"),
        (["load", "http://127.0.0.1:1/", "--duration", "fast"], "'fast' is not a duration; write 10s"),
        (["load", "http://127.0.0.1:1/", "--engine", "openlop"], "unknown engine 'openlop'; did you mean openloop?"),
        (["load", "http://127.0.0.1:1/", "--rate", "-3"], "rate"),
        (["load", "http://127.0.0.1:1/", "--processes", "0"], "processes"),
    ],
)
def test_wrong_input_gets_one_line(cli, arguments, says):
    code, printed, errors = cli.run(*arguments)
    assert code == 1
    assert printed == ""
    assert says in errors
    assert errors.count("\n") == 1


def test_a_taken_port_is_named_with_its_owner(cli):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", int(cli.env["PORT"])))
        listener.listen()
        code, _, errors = cli.run("serve", "gunicorn")
    assert code == 1
    assert f"port {cli.env['PORT']} is taken by " in errors
    assert "pid" in errors
    assert errors.count("\n") == 1


@pytest.mark.parametrize("port", ["http", "0", "65536"])
def test_a_port_that_is_none(cli, port):
    cli.env["PORT"] = port
    code, _, errors = cli.run("serve", "gunicorn")
    assert code == 1
    assert f"PORT={port}: not a port" in errors


def test_cores_that_are_none(cli):
    cli.env["CORES"] = "0,four"
    code, _, errors = cli.run("check", "gunicorn")
    assert code == 1
    assert "CORES=0,four: not a list of cores" in errors


def test_the_list_as_json_names_setups_studies_and_engines(cli):
    code, printed, errors = cli.run("list", "--json")
    assert code == 0, errors
    found = json.loads(printed)
    assert {"gunicorn", "daphne-redis", "daphne-ipc", "daphne", "uvicorn"} <= {row["name"] for row in found["setups"]}
    assert {"first-look", "2016"} <= {row["name"] for row in found["studies"]}
    assert [row["name"] for row in found["engines"]] == ["openloop", "loadtest"]


def test_the_doctor_looks_at_tools_cores_and_limits(cli):
    code, printed, _ = cli.run("doctor")
    assert code in (0, 1)
    for word in ("openloop", "Redis", "cores", "memory"):
        assert word in printed
