"""What other generators print is read from samples that they wrote; ours reports the truth of a known server, and the
benchmark of the engines runs through."""

import json
from pathlib import Path

import psutil
import pytest

from loadtests.engines import against, benchmark
from tests.fixtures.waiting import wait_for

SAMPLES = Path(__file__).with_name("samples")


@pytest.mark.parametrize("tool", ["vegeta", "k6", "oha", "h2load"])
def test_the_output_of_each_tool_is_read(tool):
    # Each was run at 200 requests per second for 4 s against the server that freezes for a second of every four.
    [first, *_] = [way for way in against.WAYS if way.tool == tool]
    times, dropped = first.read((SAMPLES / f"{tool}.txt").read_text())
    assert list(times) == [50, 90, 95, 99]
    assert times[50] < 100 < times[99] < 1100  # milliseconds
    assert (dropped, times[90] > 500) == (0, tool != "h2load")


def test_dropped_iterations_of_k6_are_read():
    times, dropped = against.read_k6((SAMPLES / "k6-few.txt").read_text())
    assert (dropped > 0, times[90] < 300) == (True, True)


@pytest.mark.parametrize(
    ("p90", "verdict"), [(600, "agrees"), (650, "agrees"), (700, "differs"), (5, "omits (few users)")]
)
def test_who_agrees_and_who_omits(p90, verdict):
    assert against.judge({90: p90, 95: 800, 99: 960}, "few users") == verdict


@pytest.mark.parametrize(
    ("names", "says"),
    [
        ("vegeta,ab", "unknown load generator 'ab'; there are: h2load, k6, oha, vegeta"),
        ("vegeta", "vegeta is not on PATH; `make peers-generators` builds it"),
        ("h2load", "h2load is not on PATH; Debian's nghttp2-client has it"),
    ],
)
def test_a_tool_that_is_missing_is_one_clear_line(command, monkeypatch, names, says):
    if "," not in names:
        monkeypatch.setenv("PATH", "")
    else:
        monkeypatch.setattr(against.shutil, "which", lambda tool: tool)
    code, printed, error = command("engines", "--against", names)
    assert (code != 0, printed) == (True, "")
    assert error.strip().endswith(says)
    assert error.count("\n") == 1


def test_a_tool_that_fails_is_one_clear_line_and_nothing_of_it_is_left_running(tmp_path):
    command = "sleep 600 </dev/null >/dev/null 2>&1 & echo $! > pid; echo no such option >&2; exit 3"
    way = against.Way("sh", "a tool", lambda *_: command, lambda *_: "", against.read_vegeta)
    with pytest.raises(against.UserError, match="a tool gave no figures: no such option"):
        against._run(way, "http://127.0.0.1:1/", 1, tmp_path)
    child = int((tmp_path / "pid").read_text())
    wait_for(lambda: not psutil.pid_exists(child) or psutil.Process(child).status() == psutil.STATUS_ZOMBIE)


@pytest.mark.servers
@pytest.mark.exhaustive
def test_ours_reports_the_truth_of_both_servers():
    [ours] = against.measure([])
    assert (ours.label, ours.dropped) == ("openloop", 0)
    assert ours.delay[50] >= against.DELAY_MS - 1  # a timer of the server may be a millisecond early
    for p, truth in against.TRUTH_MS.items():
        assert ours.freeze[p] > 0.97 * truth  # and more on a busy machine


@pytest.mark.servers
@pytest.mark.exhaustive
def test_the_benchmark_compares_the_engines():
    turns = []
    report = benchmark.measure(
        rounds=1, rate=200.0, ceiling_s=0.5, fixed_s=0.5, connections=100, progress=lambda *turn: turns.append(turn)
    )
    figures = json.loads(json.dumps(report.to_dict()))
    assert turns == [("openloop", 0, 3), ("loadtest", 1, 3), ("openloop, WebSockets", 2, 3)]
    assert [row["engine"] for row in figures["engines"]] == ["openloop", "loadtest"]
    assert figures["engines"][0]["sent"] == 100
    assert figures["engines"][1]["send_lag_p99_ms"] is None
    assert figures["ceiling_ratio"] > 0
    talk = figures["websocket"]
    assert min(talk[name]["rate"] for name in ("echo", "echo_unmasked", "broadcast", "many")) > 0
    assert (talk["many"]["missing"], talk["connections"]) == (0, 100)
