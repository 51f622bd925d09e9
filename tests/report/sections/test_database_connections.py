"""Database connections, in a table of their own where they were counted."""

import dataclasses

from loadtests.analyse.results import Results
from loadtests.formatting import DASH
from loadtests.report import page as pages


def gauges(block):
    return {
        "connections": ((0.0, 1), (0.1, 40 + block), (0.2, 5)),
        "connections idle": ((0.0, 1), (0.1, 0), (0.2, 5)),
        "connections idle in transaction": ((0.0, 0), (0.1, 0), (0.2, 0)),
        "connections left": ((10.2, 5),),
        "connections opened": ((10.2, 50),),
        "connections refused": ((10.2, block),),
    }


def table(run):
    sections = pages.compose(Results(run)).sections
    return next((one for section in sections for one in section.tables if one.name.startswith("connections-")), None)


def test_what_was_held_opened_left_and_refused_is_told_by_setup(build_run):
    run = build_run(labels=("gunicorn", "uvicorn"), blocks=2, tests=("latency",))
    assert table(run) is None
    for trial in run.trials():
        if trial.label == "uvicorn":
            result = dataclasses.replace(trial.result, completed=500)
            run.save_trial(dataclasses.replace(trial, result=result, gauges=gauges(trial.block)))
    found = table(run)
    assert found.columns[1:] == (
        "open",
        "idle",
        "idle in transaction",
        "opened/1,000 requests",
        "left",
        "too many clients",
    )
    rows = {row[0].text: row[1:] for row in found.rows}
    assert [field.text for field in rows["uvicorn"]] == ["42", "5", "0", "100", "5", "3"]
    assert [field.tone for field in rows["uvicorn"]] == ["", "", "", "", "", "bad"]
    assert {field.text for field in rows["gunicorn"]} == {DASH}
