"""TLS handshakes, in a table of their own where there were any."""

import dataclasses

from loadtests.analyse.results import Results
from loadtests.records import Handshakes
from loadtests.report import page as pages


def table(run):
    sections = pages.compose(Results(run)).sections
    return next((one for section in sections for one in section.tables if one.name.startswith("handshakes-")), None)


def test_full_and_resumed_handshakes_are_summed_by_setup(build_run):
    run = build_run(labels=("gunicorn", "uvicorn"), blocks=2, tests=("latency",))
    assert table(run) is None
    for trial in run.trials():
        if trial.label == "uvicorn":
            result = dataclasses.replace(trial.result, handshakes=Handshakes(full=trial.block, resumed=1000))
            run.save_trial(dataclasses.replace(trial, result=result))
    found = table(run)
    assert found.columns == ("setup", "full", "resumed")
    assert [[field.text for field in row] for row in found.rows] == [["uvicorn", "3", "2,000"]]
