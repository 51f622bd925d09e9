"""Test the command ``advise``: its candidates, the rounds in its run folder, and its output."""

import pytest

from loadtests import setups
from loadtests.analyse.results import Results
from loadtests.errors import UserError
from loadtests.measure import advise as search
from loadtests.measure.prepare import RunOptions
from loadtests.plan import study as studies
from loadtests.records.result import NOTHING
from loadtests.report import page as pages
from loadtests.report.sections import advice as searched
from loadtests.report.sections import sweep
from tests.fixtures.bench import FakeTrials, SilentWatcher


@pytest.fixture
def trials():
    """Simulate trials whose rate increases with the number of workers, and is best with two threads.

    Blocks differ much more than cells. In the cells in ``late``, the generator is late. In the cells in
    ``broken``, the setup doesn't start.
    """
    trials = FakeTrials(reason=lambda one: "server_did_not_start" if one.slot.label in trials.broken else None)
    trials.broken, trials.late = set(), set()

    def result(planned):
        env, block = planned.entry.env, planned.slot.block
        speed = 100.0 * int(env["WORKERS"]) * (1.5 if env.get("THREADS") == "2" else 1)
        rate = speed * (1 + block % 3) * (1 + (block * len(trials.ran)) % 7 / 2000)
        times = {**NOTHING, "p50": 1.0, "p99": 1e3 / rate}
        lag = {**NOTHING, "p99": times["p99"] if planned.slot.label in trials.late else 0.0}
        return {"rate": rate, "ok": 1000, "completed": 1000, "response_time_ms": times, "pacing_lag_ms": lag}

    trials.result = result
    return trials


def plan(name="gunicorn", rate=None, max_time_s=600.0, path="/"):
    return search.plan(setups.find([name])[0], 1, path, rate, max_time_s)


def test_worker_counts_reach_twice_the_cores():
    assert search.workers(2) == ("1", "2", "3", "4", "5")
    assert search.workers(16) == ("1", "2", "3", "4", "5", "7", "9", "12", "16", "21", "28", "33")


@pytest.mark.parametrize(
    ("name", "knobs", "connections"), [("gunicorn", {"WORKERS", "THREADS"}, 24), ("uvicorn", {"WORKERS"}, 10)]
)
def test_threads_are_tried_only_if_supported(name, knobs, connections):
    found = plan(name)
    assert found.sweep.knobs.keys() == knobs
    assert found.study.tests[0].pace.connections == connections


def test_more_time_allows_more_blocks():
    blocks = [plan(max_time_s=seconds).first_blocks for seconds in (300, 600, 9e9)]
    assert blocks == [1, 2, search.MAX_FIRST_BLOCKS]


def sweep_of(**changes):
    table = {
        "sweep": {"setup": "gunicorn-gthread", "WORKERS": [1, 2, 3], "THREADS": [1, 2], "SESSIONS": ["file"]},
        "tests": {"throughput": {"duration": "1s"}},
    }
    return studies.parse({**table, **changes}, "mine", "mine.toml")


def test_sweep_cells_are_halved(run):
    found = halved(sweep_of())
    assert found.metric.name == "rps"
    assert {entry.env["SESSIONS"] for entry in found.study.entries} == {"file"}
    kept, outcome = run(found)
    assert outcome.pick == "3w-2t"
    assert kept.record.study.name == "advise-mine"
    assert searched.line(kept.record) == "WORKERS=3 THREADS=2 SESSIONS=file"


def halved(study):
    return search.of_study(study, 9e9)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: plan(max_time_s=60), r"the shortest search takes about 4\.\d minutes. Set a longer --max-time"),
        (lambda: plan(path="x"), "path: must start with '/', not 'x'"),
        (lambda: plan(rate=-1), r"--rate -1: must be from 0\.1 to 1,000,000"),
        (
            lambda: halved(studies.load("first-look")),
            "^first-look is not a sweep. Name a setup, or a study with a .sweep. table",
        ),
        (lambda: halved(studies.load("sweep")), r"^sweep has 2 tests \(latency and throughput\). A search needs "),
        (
            lambda: halved(sweep_of(tests={"latency": {"rate": "auto", "duration": "1s"}})),
            "^mine: the rate of the test is 'auto'. Set the rate to a number$",
        ),
    ],
)
def test_impossible_search_is_refused(make, says):
    with pytest.raises(UserError, match=says):
        make()


def test_shipped_grid_takes_under_an_hour():
    found = search.of_study(studies.load("workers-and-threads"), 3600.0)
    assert len(found.study.entries) == 100
    assert found.study.tests[0].pace.connections == 100  # enough connections for every candidate


@pytest.fixture
def run(trials, tmp_path, bench_of):
    def go(found):
        made = search.prepare(found, RunOptions(tmp_path / "run", 1), bench_of)
        execution = trials.instead(made)
        return execution.run, search.execute(found, execution, SilentWatcher())

    return go


def test_report_recommends_the_best_knobs(run, trials):
    found, outcome = run(plan(max_time_s=300))
    assert (outcome.pick, outcome.significant) == ("3w-2t", True)
    assert [number for number, _ in trials.attempts] == list(range(1, 53))
    assert sorted({one.slot.block for one in trials.ran}) == list(range(1, 16))
    assert len({one.slot.label for one in trials.ran if one.slot.block > 7}) == 2
    assert found.record.study.blocks == 15
    assert found.record.ended
    best, sure, saved = searched.sentences(found.record, plan().sweep)
    assert best == "3 workers × 2 threads did best in throughput."
    assert sure.endswith(": significantly different.")
    assert "12 candidates in 4 rounds took 52 trials" in saved
    assert "would have taken 180 trials" in saved
    assert searched.line(found.record) == "WORKERS=3 THREADS=2"
    results = Results(found)
    assert pages.compose(results).findings[0].answer.endswith("WORKERS=3 THREADS=2")
    section = sweep.section(results)
    assert "successive halving" in section.paragraphs[1]  # the advice doesn't claim that it compared all cells
    assert not any("within noise" in chart.alt for chart in section.charts)


def test_fixed_rate_search_finds_least_p99(run):
    found = plan(rate=100.0, max_time_s=9e9)
    assert found.metric.name == "p99_ms"
    assert found.study.tests[0].pace.duration_s * 100 >= 1000
    assert run(found)[1].pick == "3w-2t"


def test_failed_start_prevents_advice(run, trials):
    trials.broken = {"3w-2t"}
    assert run(plan(max_time_s=300))[1].pick != "3w-2t"
    assert all(one.slot.label != "3w-2t" for one in trials.ran if one.slot.block > 1)


def test_late_generator_drops_no_candidate(run, trials):
    trials.late = {"3w-2t"}
    run(plan(rate=100.0, max_time_s=9e9))
    assert any(one.slot.label == "3w-2t" for one in trials.ran if one.slot.block > 1)


def test_search_without_candidates_is_an_error(run, trials):
    trials.broken = {entry.label for entry in plan().study.entries}
    with pytest.raises(UserError, match=r"no candidate has a valid trial with .*. Its report\.html shows the reasons"):
        run(plan(max_time_s=300))
