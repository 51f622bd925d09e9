"""``check``: what it prints of what it found."""

from collections import Counter

import pytest

from loadtests import setups
from loadtests.commands.check import print_check
from loadtests.measure.check import Check, Difference
from loadtests.serve.serving import NotServing
from loadtests.workload import Request

ROOT, ITEMS = Request("root", path="/"), Request("items", path="/items[1]")


@pytest.fixture
def pair():
    return setups.find(["gunicorn", "uvicorn"])


def test_one_is_not_many(pair, capsys):
    print_check(Check([ROOT], compared=pair[:1]))
    assert capsys.readouterr().out == "1 request to 1 setup: 0 differences\n"
    print_check(Check([ROOT, ITEMS], compared=pair))
    assert capsys.readouterr().out == "2 requests to each of 2 setups: 0 differences\n"


def test_what_differs_is_reported_with_both_answers(pair, capsys):
    print_check(Check([ROOT, ITEMS], compared=pair, differences=[Difference("uvicorn", ITEMS, "200", "500 [oops]")]))
    assert capsys.readouterr().out.splitlines() == [
        "uvicorn: items: GET /items[1]",
        "    gunicorn answered 200",
        "    uvicorn answered 500 [oops]",
        "2 requests to each of 2 setups: 1 difference",
    ]


def test_a_project_whose_answers_are_errors_has_no_number_of_differences(pair, capsys):
    broken = Check([ROOT], compared=pair, errors=[(ROOT, "500 text/html 'Server Error'")])
    assert not broken.good
    print_check(broken)
    assert capsys.readouterr().out == "gunicorn: GET / is answered 500 text/html 'Server Error'\n"


def test_what_was_left_out_is_reported_with_its_reason(pair, capsys):
    failed = [(pair[1], NotServing("did not start", "the end of a log"))]
    print_check(
        Check(
            [ROOT, ITEMS],
            pair[:1],
            skipped={"uwsgi": "it is not here"},
            failed=failed,
            not_asked={"gunicorn": Counter({"it cannot": 1, "it will not": 2})},
        )
    )
    assert capsys.readouterr().out.splitlines() == [
        "uwsgi was skipped: it is not here",
        "gunicorn was not asked 1 request: it cannot",
        "gunicorn was not asked 2 requests: it will not",
        "uvicorn: did not start",
        "the end of a log",
        "2 requests to 1 setup: 0 differences",
    ]


def test_an_answer_that_no_run_would_take_is_noted(pair, capsys):
    print_check(Check([ROOT], pair, unexpected=[(ROOT, 400)]))
    assert capsys.readouterr().out.splitlines() == [
        "note: GET / is answered 400, and `run` needs 200",
        "1 request to each of 2 setups: 0 differences",
    ]


def test_what_was_left_out_is_counted_in_brief(pair, capsys):
    print_check(Check([ROOT], pair, skipped={"uwsgi": "it is not here"}), every=False)
    assert capsys.readouterr().out.splitlines()[0] == "1 setup skipped (--all says why)"


def test_what_a_websocket_setup_does_wrong_is_shown(capsys):
    sound = Check([ROOT], websocket_cases={"ws": (15, [])})
    assert sound.good
    print_check(sound)
    assert capsys.readouterr().out == "ws: 15 WebSocket cases: 0 failures\n"
    broken = Check([ROOT], websocket_cases={"ws": (15, ["ping: silent; pong is right"])})
    assert not broken.good
    print_check(broken)
    assert capsys.readouterr().out.splitlines() == [
        "ws: ping: silent; pong is right",
        "ws: 15 WebSocket cases: 1 failure",
    ]


def test_what_a_project_does_over_its_websockets_is_reported(pair, capsys):
    delivers = Check([ROOT], compared=pair, websocket_failures={"uvicorn": []})
    assert delivers.good
    print_check(delivers)
    assert capsys.readouterr().out.splitlines()[0] == "uvicorn: a message over its WebSockets was delivered"
    silent = Check([ROOT], compared=pair, websocket_failures={"uvicorn": ["/ws/chat/: nothing came"]})
    assert not silent.good
    print_check(silent)
    assert capsys.readouterr().out.splitlines()[0] == "uvicorn: /ws/chat/: nothing came"
