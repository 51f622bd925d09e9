"""What ``check``, ``engines`` and ``layers`` print of what they found."""

from collections import Counter

import pytest

from loadtests import setups
from loadtests.commands.check import print_check
from loadtests.commands.engines import print_engines
from loadtests.commands.layers import print_layers
from loadtests.engines.benchmark import EngineFigures, EnginesReport
from loadtests.engines.websocket_ceilings import WebSocketCeiling, WebSocketFigures
from loadtests.measure.check import Check, Difference
from loadtests.measure.layers.rounds import IPC, REDIS, SOCKET, LayerResult, LayerRound, LayersReport
from loadtests.serve.serving import NotServing
from loadtests.workload import Request

ROOT, ITEMS = Request("root", path="/"), Request("items", path="/items[1]")
GUNICORN, UVICORN = PAIR = setups.find(["gunicorn", "uvicorn"])
ALIKE = "1 request to each of 2 setups: 0 differences"
LEFT_OUT = {
    "skipped": {"uwsgi": "it is not here"},
    "failed": [(UVICORN, NotServing("did not start", "the end of a log"))],
    "not_asked": {"gunicorn": Counter({"it cannot": 1, "it will not": 2})},
}


@pytest.mark.parametrize(
    ("found", "good", "lines"),
    [
        (Check([ROOT], compared=[GUNICORN]), True, ["1 request to 1 setup: 0 differences"]),
        (Check([ROOT, ITEMS], compared=PAIR), True, ["2 requests to each of 2 setups: 0 differences"]),
        (
            Check([ROOT, ITEMS], compared=PAIR, differences=[Difference("uvicorn", ITEMS, "200", "500 [oops]")]),
            False,
            [
                "uvicorn: items: GET /items[1]",
                "    gunicorn answered 200",
                "    uvicorn answered 500 [oops]",
                "2 requests to each of 2 setups: 1 difference",
            ],
        ),
        # A project whose answers are errors has no number of differences.
        (
            Check([ROOT], compared=PAIR, errors=[(ROOT, "500 text/html 'Server Error'")]),
            False,
            ["gunicorn: GET / is answered 500 text/html 'Server Error'"],
        ),
        (
            Check([ROOT, ITEMS], [GUNICORN], **LEFT_OUT),
            False,
            [
                "uwsgi was skipped: it is not here",
                "gunicorn was not asked 1 request: it cannot",
                "gunicorn was not asked 2 requests: it will not",
                "uvicorn: did not start",
                "the end of a log",
                "2 requests to 1 setup: 0 differences",
            ],
        ),
        (
            Check([ROOT], PAIR, unexpected=[(ROOT, 400)]),
            True,
            ["note: GET / is answered 400, and `run` needs 200", ALIKE],
        ),
        (Check([ROOT], websocket_cases={"ws": (15, [])}), True, ["ws: 15 WebSocket cases: 0 failures"]),
        (
            Check([ROOT], websocket_cases={"ws": (15, ["ping: silent; pong is right"])}),
            False,
            ["ws: ping: silent; pong is right", "ws: 15 WebSocket cases: 1 failure"],
        ),
        (
            Check([ROOT], compared=PAIR, websocket_failures={"uvicorn": []}),
            True,
            ["uvicorn: a message over its WebSockets was delivered", ALIKE],
        ),
        (
            Check([ROOT], compared=PAIR, websocket_failures={"uvicorn": ["/ws/chat/: nothing came"]}),
            False,
            ["uvicorn: /ws/chat/: nothing came", ALIKE],
        ),
    ],
)
def test_a_check_is_printed_with_what_differs_what_was_left_out_and_why(capsys, found, good, lines):
    print_check(found)
    assert (capsys.readouterr().out.splitlines(), found.good) == (lines, good)


def test_what_was_left_out_of_a_check_is_counted_in_brief(capsys):
    print_check(Check([ROOT], PAIR, skipped={"uwsgi": "it is not here"}), every=False)
    assert capsys.readouterr().out.splitlines() == ["1 setup skipped (--all says why)", ALIKE]


def figures(engine, **others):
    values = {
        "ceiling_rate": 9000.0, "ceiling_rounds": [9000.0], "ceiling_cpu": 0.95, "requests_per_cpu_s": 9500.0,
        "ceiling_server_cpu": 0.4, "planned": 30000, "sent": 30000, "unfinished": 0, "p50_ms": 0.5, "p99_ms": 1.5,
        "send_lag_p99_ms": 0.25, "send_lag_p99_rounds": [0.25], "cpu": 0.6,
    }  # fmt: skip
    return EngineFigures(engine=engine, **{**values, **others})


@pytest.fixture
def engines_printed(capsys):
    """A function: the lines printed of engines that were compared on a core, the columns apart by blanks."""

    def turn(rate, lag_ms):
        return WebSocketCeiling(rate, cpu=0.5, per_cpu_s=2 * rate, server_cpu=0.4, lag_p99_ms=lag_ms, missing=3)

    sockets = WebSocketFigures(turn(40e3, None), turn(41e3, None), turn(90e3, 2.5), turn(20e3, 7.25), 5000)

    def printed(core, **others):
        engines = [figures("openloop"), figures("loadtest", ceiling_rate=3000.0, **others)]
        print_engines(EnginesReport(6000.0, (0,), core, engines, sockets))
        return [" ".join(line.replace("│", " ").split()) for line in capsys.readouterr().out.splitlines()]

    return printed


def test_the_engines_stand_side_by_side_over_http_and_websockets(engines_printed):
    lines = engines_printed(1, send_lag_p99_ms=None, send_lag_p99_rounds=[])
    assert "Load generators on core 1, against a fast server on another" in " ".join(lines)
    assert "send lag p99, ms 0.25 –" in lines
    assert "openloop's ceiling is 3.0 times loadtest's; 2 is asked for." in lines
    assert "run this again" not in " ".join(lines)
    [masked] = [line for line in lines if line.startswith("ceiling of echoes,")]
    assert masked.endswith("40,000 50% 80,000 – 40%")
    assert "20,000 deliveries/s to 5,000 connections are asked for" in " ".join(lines)
    assert "20,000 with 50%, 3 missing." in " ".join(lines)


def test_a_core_of_the_engines_that_was_shared_with_others_is_reported(engines_printed):
    printed = " ".join(engines_printed(0, ceiling_cpu=0.5))
    assert "all on core 0" in printed
    assert "Something else ran on the generators' core: run this again on a quiet machine." in printed


def test_the_table_of_layers_shows_all_and_what_was_delivered(capsys):
    rounds = {SOCKET: (10, 90_000), IPC: (100, 9_000), REDIS: (500, 900)}
    layers = [
        LayerResult(name, (LayerRound(p50, p50 * 2, rate, 1e6 / rate, 100, 99),))
        for name, (p50, rate) in rounds.items()
    ]
    print_layers(LayersReport(tuple(layers), cores=(0, 1), duration_s=2.0, in_flight=64, body_bytes=1000))
    printed = " ".join(capsys.readouterr().out.split())
    for piece in ("unix-socket", "channels_ipc", "channels_redis", "99 of 100", "cores 0, 1"):
        assert piece in printed
    assert "10.0 times" in printed
    assert "0.200 of" in printed
    assert "0.100 of the CPU time" in printed
    assert "Medians of 1 round of 2 s" in printed
