"""A body that a file has is sent, and no run folder keeps it."""

import pytest

from loadtests.errors import UserError
from loadtests.measure import prepare as preparing
from loadtests.measure import run as runs
from loadtests.plan import study as studies
from loadtests.records.run.folder import Run
from loadtests.report import reports
from tests.fixtures.bench import SilentWatcher

SECRET = "what nobody else may read"
STUDY = """
setups = ["gunicorn"]
blocks = 2
interleave = false
[tests.latency]
rate = 50
duration = "1s"
method = "POST"
path = "/echo"
body_file = "body.txt"
"""


@pytest.fixture
def body(tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    file = tmp_path / "body.txt"
    file.write_text(SECRET)
    return file


@pytest.fixture
def folder(tmp_path, body, bench_of):
    """A run that was cut off after its first trial."""
    study = studies.load(str(tmp_path / "study.toml"))
    folder = tmp_path / "run"
    execution = preparing.prepare(study, preparing.RunOptions(folder, 1), bench_of)
    bench_of.engine.meanwhile = interrupted
    with pytest.raises(KeyboardInterrupt):
        runs.execute(execution, SilentWatcher())
    bench_of.engine.meanwhile = lambda load: {}
    bench_of.engine.loads.clear()
    return folder


def interrupted(load):
    raise KeyboardInterrupt


def test_a_run_that_is_gone_on_with_sends_it_and_keeps_it_nowhere(folder, bench_of):
    execution = preparing.resume(folder, bench_of)
    runs.execute(execution, SilentWatcher())
    assert [load.requests[0].body for load in bench_of.engine.loads] == [SECRET.encode()] * 2
    reports.write(Run.open(folder))
    kept = [file for file in folder.rglob("*") if file.is_file()]
    assert {"run.json", "report.html", "index.rst"} <= {file.name for file in kept}
    assert [file.name for file in kept if SECRET in file.read_text(encoding="utf-8")] == []
    [request] = Run.open(folder).record.study.tests[0].requests
    assert request.body is None
    assert request.body_file.size == len(SECRET)


@pytest.mark.parametrize("now", ["what nobody else may reaD", None], ids=["another", "gone"])
def test_a_run_does_not_go_on_with_another_one(folder, body, bench_of, now):
    body.write_text(now) if now else body.unlink()
    why = "has changed since the run was begun; start a new run" if now else "cannot be read: No such file or directory"
    with pytest.raises(UserError, match=f"run: body_file: .*body.txt {why}$"):
        preparing.resume(folder, bench_of)
    assert bench_of.engine.loads == []
