"""Wrong input gets one clear line and an exit code that is not zero."""

import json
import signal
import socket

import pytest


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "first-lok"], "unknown study 'first-lok'; did you mean first-look?"),
        (["run"], "name a study, such as first-look; "),
        (["run", "--app", "/nothing"], "/nothing is not a folder"),
        (["run", "--resume", "nothing"], "nothing is not a run folder"),
        (["run", "nothing.toml"], "there is no study file nothing.toml"),
        (["run", "a" * 400], "unknown study 'aaa"),
        (["run", "a" * 400 + ".toml"], "there is no study file aaa"),
        (["load", "http://127.0.0.1:1/", "--body", "@/dev/zero"], "/dev/zero cannot be read: it is not a regular"),
        (["load", "http://127.0.0.1:1/", "--workload", "/dev/zero"], "/dev/zero: cannot be read: it is not a regular"),
        (["workload", "har", "/dev/zero"], "/dev/zero: cannot be read: it is not a regular file"),
        (["workload", "log", "/dev/zero"], "/dev/zero: cannot be read: it is not a regular file"),
        (["report", "a" * 400], "is not a run folder (does not exist)"),
        (["run", "first-look", "--blocks", "0"], "--blocks 0: from 1 to 10,000 is allowed"),
        (["run", "first-look", "--blocks", "100000000000"], "--blocks 100000000000: from 1 to 10,000 is allowed"),
        (["run", "matrix", "--blocks", "10000"], " trials; a run may have 10,000"),
        (["run", "first-look", "--seed", "-1"], "--seed -1: from 0 to 4,294,967,295 is allowed"),
        (["run", "first-look", "--until", "2%", "--max-time", "1e9h"], "'1e9h' is not a duration"),
        (["run", "first-look", "--price", "0"], "--price 0: a price above 0 is needed"),
        (["run", "first-look", "--until", ""], "what stands after --until is empty; give it a value, or leave it out"),
        (["report", "nothing"], "nothing is not a run folder (does not exist)"),
        (["check", "daphne-icp"], "unknown setup 'daphne-icp'; did you mean daphne-ipc"),
        (["serve", "iis"], "unknown setup 'iis'; there are: "),
        (["serve", "gunicorn", "--wsgi", "a:b"], "--wsgi is for a project of your own; name its folder: --app"),
        (["run", "first-look", "--app", ""], "what stands after --app is empty; give it a value, or leave it out"),
        (["check", "--app="], "what stands after --app is empty"),
        (["run", "--resume", ""], "what stands after --resume is empty"),
        (["report", ""], "what stands after report is empty"),
        (["load", "http://127.0.0.1:1/", "--workload", ""], "what stands after --workload is empty"),
        (["load", "ftp://127.0.0.1/"], "is not a URL that load can be sent to"),
        (["load", "http://192.0.2.1/", "--rate", "1"], "192.0.2.1 is not this machine"),
        (["load", "http://127.0.0.1:1/", "--duration", "fast"], "'fast' is not a duration; write 10s"),
        (["load", "http://127.0.0.1:1/", "--body", "", "--rate", "0"], "the rate must be over 0"),
        (["load", "http://127.0.0.1:1/", "--engine", "openlop"], "unknown engine 'openlop'; did you mean openloop?"),
        (["load", "http://127.0.0.1:1/", "--rate", "-3"], "rate"),
        (["load", "http://127.0.0.1:1/", "--rate", "0"], "the rate must be over 0"),
        (["load", "http://127.0.0.1:1/", "--processes", "0"], "processes"),
        (["capacity", "http://127.0.0.1:1/", "--objective", "fast"], "objective: 'fast' is not a limit"),
        (["capacity", "http://127.0.0.1:1/", "--arrivals", "late"], "--arrivals 'late': random or even is allowed"),
        (["load", "http://127.0.0.1:1/", "--rate", "1", "--arrivals", "late"], "random or even is allowed"),
        (["load", "http://127.0.0.1:1/", "--arrivals", "random"], "it goes with --rate"),
        (["capacity", "http://127.0.0.1:1/", "--start-rate", "0"], "capacity: the start rate, 0, must be at least 1"),
        (["profile", "gunicorn", "--rate", "-1"], "--rate -1: more than 0 and at most 1,000,000 requests per second"),
        (["profile", "gunicorn", "--path", "/\r\n"], "--path: is '/\\r\\n'; write it percent-encoded"),
        (["run", "first-look", "--path", "/\r\n"], "--path: is '/\\r\\n'; write it percent-encoded"),
        (["load", "http://127.0.0.1:1/", "--method", "GE\nT"], "--method: is 'GE\\nT'; allowed: GET"),
        (["advise", "gunicron"], "unknown setup 'gunicron'; did you mean gunicorn"),
        (["advise", "gunicorn", "--rate", "nan"], "--rate nan: from 0.1 to 1,000,000 is allowed"),
        (["advise", "gunicorn", "--max-time", "1us"], "'1us' is not a duration"),
        (["capacity", "http://127.0.0.1:1/", "--max-rate", "inf"], "the highest rate is inf; from 1 to 1,000,000"),
        (["profile", "gunicorn", "--rounds", "0"], "--rounds 0: from 1 to 1,000 is allowed"),
        (["profile", "gunicorn", "--duration", "0.0001"], "between 1ms and a week is"),
        (["profile", "gunicorn", "--path", "here"], "--path: is 'here'; it must begin with '/'"),
        (["profile", "gunicorn", "--rate", "0"], "--rate 0: more than 0 and at most 1,000,000"),
        (["profile", "gunicorn", "--duration", "soon"], "'soon' is not a duration"),
        (["profile", "gunicorn", "--output", "."], ". exists already; name another folder with --output"),
        (["load", "wss://127.0.0.1/"], "wss:// cannot be loaded; write the ws:// address of the server behind it"),
        (
            ["load", "http://127.0.0.1/", "--size", "5"],
            "--size says how long a message over WebSockets is; it goes with ws://",
        ),
        (
            ["load", "ws://127.0.0.1/", "--body", "x"],
            "over ws:// messages are sent; --method, --body and --workload do not go",
        ),
        (["load", "ws://127.0.0.1/", "--size", "0"], "a payload has from 1 to 1,000,000 bytes, not 0"),
        (["load", "ws://192.0.2.1/"], "192.0.2.1 is not this machine; load on another needs its owner's consent"),
        (
            ["capacity", "http://127.0.0.1:1/", "--max-time", "10s"],
            "a probe at 100 requests/s and one that confirms it take 40 s, and 10 s are allowed",
        ),
        (["capacity", "http://127.0.0.1:1/", "--max-time", "soon"], "'soon' is not a duration"),
        (
            ["capacity", "http://127.0.0.1:1/", "--start-rate", "1"],
            "its percentile needs 1,000 requests in a probe, which at 1 requests/s take over 600 s",
        ),
        (
            ["capacity", "http://127.0.0.1:1/", "--max-rate", "5", "--objective", "p99.9<1s"],
            "Begin at 16.7 requests/s or more, or limit a lower percentile",
        ),
        (["advise", "workers-and-threads", "--path", "/"], "a study says what is asked; --path goes with a setup"),
        (["advise", "workers-and-threads", "--rate", "10"], "a study says what is asked; --rate goes with a setup"),
    ],
)
def test_wrong_input_gets_one_line(refused, arguments, says):
    assert says in refused(*arguments)


def test_a_mistyped_option_is_named(command):
    code, printed, errors = command("load", "http://127.0.0.1:1/", "--speeed", "1")
    assert (code, printed) == (2, "")
    assert "--speeed" in errors


def test_a_redis_that_is_not_there_is_said_before_anything_is_started(cli):
    cli.env["REDIS_URL"] = "redis://127.0.0.1:1"
    assert cli.run("check", "daphne-redis")[2].startswith("error: REDIS_URL: there is no Redis: Connection refused; ")
    assert "warning  there is no Redis at REDIS_URL" in cli.run("doctor")[1]


def test_ctrl_c_says_that_it_was(cli):
    process = cli.start("check", "gunicorn")
    assert process.stdout.readline() == "preparing the project ...\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[1] == "error: interrupted\n"
    assert process.returncode == 130
    cli.wait_until_nothing_runs()


def test_a_taken_port_is_named_with_its_owner(cli):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", int(cli.env["PORT"])))
        listener.listen()
        code, _, errors = cli.run("serve", "gunicorn")
    assert code == 1
    assert f"port {cli.env['PORT']} is taken by " in errors
    assert "pid" in errors
    assert errors.count("\n") == 1


def test_the_list_as_json_names_setups_studies_and_engines(command):
    code, printed, errors = command("list", "--json")
    assert code == 0, errors
    found = json.loads(printed)
    assert {"gunicorn", "daphne-redis", "daphne-ipc", "daphne", "uvicorn"} <= {row["name"] for row in found["setups"]}
    assert {"first-look", "2016"} <= {row["name"] for row in found["studies"]}
    assert [row["name"] for row in found["engines"]] == ["openloop", "loadtest", "locust"]


@pytest.mark.parametrize("kind", ["setups", "studies", "engines", "runs"])
def test_the_list_of_a_kind_is_a_table(command, kind):
    code, printed, _ = command("list", kind)
    assert code == 0
    assert printed.startswith((f"{kind} ", f"{kind}\n"))


def test_the_doctor_knows_no_study_that_is_not_there(command):
    code, _, said = command("doctor", "idel")
    assert code != 0
    assert "did you mean idle?" in said


def test_the_doctor_looks_at_tools_cores_limits_and_what_a_study_needs(command):
    code, printed, _ = command("doctor", "idle")
    assert code in (0, 1)
    for words in ("openloop", "Redis", "cores", "memory", "idle needs 1,2"):  # a thousand connections, and what else
        assert words in printed
