"""The benchmark of an origin: its table, and the whole way at a rate that any machine keeps."""

import dataclasses
import json

import pytest

from loadtests.commands.origin import print_accuracy
from loadtests.measure import origin_accuracy
from loadtests.measure.origin_accuracy import OriginAccuracy

FOUND = OriginAccuracy(
    rate=2000.0, latency_s=1.0, core=0, client_core=1, sent=30_000, ok=30_000, most_in_flight=2140, connections=2140,
    late_p50_ms=0.6, late_p99_ms=1.4, late_max_ms=9.0, seen_p50_ms=1.1, seen_p99_ms=2.5, send_lag_p99_ms=1.2, cpu=0.1,
    client_cpu=0.3,
)  # fmt: skip


@pytest.mark.servers
def test_the_whole_way_at_a_low_rate():
    found = origin_accuracy.measure(lambda doing: None, rate=50, latency_s=0.1, duration_s=1)
    assert found.sent == found.ok == 50
    assert 1 <= found.most_in_flight <= 50
    assert found.late_p50_ms >= 0
    assert found.cpu > 0


def test_the_table_has_what_was_asked_for_and_what_came(capsys):
    print_accuracy(FOUND)
    printed = " ".join(capsys.readouterr().out.replace("│", " ").split())
    for words in (
        "An origin on core 0",
        "most in flight at a time 2,140",
        "p99 1.4",
        "2.5 ms observed by the client; the target is under 5.",
    ):
        assert words in printed
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
    ],
)
def test_wrong_options_are_one_line(command, arguments, says):
    code, printed, errors = command("origin", *arguments)
    assert (code, printed, errors) == (1, "", f"error: {says}\n")
