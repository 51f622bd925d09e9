"""The origin as a service of a setup, by hand, and its benchmark."""

import dataclasses
import json
import os
import signal
import socket
import urllib.request

import pytest

from loadtests.commands.origin import print_accuracy
from loadtests.measure import origin_accuracy
from loadtests.measure.origin_accuracy import OriginAccuracy
from loadtests.serve.serving import NotServing
from tests.fixtures.served import served
from tests.fixtures.waiting import wait_for


@pytest.mark.servers
def test_a_setup_finds_the_origin_next_to_it_and_nobody_pays_for_it(tmp_path):
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
def test_a_recipe_that_is_wrong_is_reported_with_the_end_of_the_log():
    ended = r"origin:origin is EXITED \(exit status 1\)"
    with (
        pytest.raises(NotServing, match=ended) as raised,
        served("gunicorn", "origin", ORIGIN_RECIPE="slwo") as running,
    ):
        raise NotServing(wait_for(running.failed_service), running.logs())  # where the setup answered first
    assert "unknown recipe 'slwo'; did you mean slow?" in raised.value.log


@pytest.mark.servers
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_at_once_with_130_and_nothing_is_left(cli, tmp_path, number):
    file = tmp_path / "url"
    process = cli.start("origin", "slow", "--port", 0, "--url-file", file)
    url = process.stdout.readline().split()[0]
    assert file.read_text() == f"{url}\n"
    port = int(url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port)) as held:
        held.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")  # a request in flight holds nothing up
        process.send_signal(number)
        _, errors = process.communicate(timeout=10)
    assert (process.returncode, errors) == (130, "error: interrupted\n")
    assert not file.exists()
    cli.wait_until_nothing_runs()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))


@pytest.mark.exhaustive
@pytest.mark.servers
def test_its_benchmark_at_a_low_rate():
    found = origin_accuracy.measure(lambda doing: None, rate=50, latency_s=0.1, duration_s=1)
    assert found.sent == found.ok == 50
    assert 1 <= found.most_in_flight <= 50
    assert found.late_p50_ms >= 0
    assert found.cpu > 0


FOUND = OriginAccuracy(
    rate=2000.0, latency_s=1.0, core=0, client_core=1, sent=30_000, ok=30_000, most_in_flight=2140, connections=2140,
    late_p50_ms=0.6, late_p99_ms=1.4, late_max_ms=9.0, seen_p50_ms=1.1, seen_p99_ms=2.5, send_lag_p99_ms=1.2, cpu=0.1,
    client_cpu=0.3,
)  # fmt: skip


def test_the_table_of_its_benchmark_has_what_came(capsys):
    print_accuracy(FOUND)
    printed = " ".join(capsys.readouterr().out.replace("│", " ").split())
    found = [words for words in ("core 0", "most in flight at a time 2,140", "p99 1.4", "2.5 ms") if words in printed]
    assert len(found) == 4
    assert "shared" not in printed


def test_being_late_or_losing_an_answer_is_not_in_time():
    assert FOUND.in_time
    assert not dataclasses.replace(FOUND, late_p99_ms=5.0).in_time
    assert not dataclasses.replace(FOUND, seen_p99_ms=5.0).in_time
    assert not dataclasses.replace(FOUND, ok=29_999).in_time
    assert json.loads(json.dumps(FOUND.to_dict()))["in_time"] is True


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["slow", "--benchmark"], "--benchmark plays a recipe of its own; leave yours out"),
        (["slow", "--json"], "--json goes with --benchmark"),
        (["slow", "--port", "70000"], "--port 70000: from 0 to 65,535 is allowed"),
        (["slwo"], "unknown recipe 'slwo'; did you mean slow?"),
        (["nothing.json"], "nothing.json: cannot be read: No such file or directory"),
        (["/dev/zero"], "/dev/zero: cannot be read: it is not a regular file"),
    ],
)
def test_wrong_options_are_one_line(refused, arguments, says):
    assert refused("origin", *arguments) == f"error: {says}\n"


def test_a_taken_port_and_an_origin_that_asks_itself_are_one_line(refused, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        says = refused("origin", "slow", "--port", port)
        assert says == f"error: port {port} of 127.0.0.1 is taken; choose another: --port 0 takes a free one\n"
    recipe = tmp_path / "loop.json"
    recipe.write_text(json.dumps({"origin": f"http://127.0.0.1:{port}/", "stages": [{"at": 0}]}))
    says = refused("origin", recipe, "--port", port)
    assert says.startswith(f"error: the recipe of /*: origin: is http://127.0.0.1:{port}/, which is this origin")
