"""Test predictions of pages, and their comparison with runs."""

import pytest

from loadtests.analyse import cost_model
from tests.fixtures.costs import with_costs
from tools import predictions


@pytest.fixture
def predict(capsys):
    def run(*arguments):
        predictions.main(list(arguments))
        return capsys.readouterr().out

    return run


def test_mean_errors_are_grouped_by_interface(predict, build_run, tmp_path):
    file = tmp_path / "predictions.csv"
    file.write_text(predict("predict", "home=12"), encoding="utf-8")
    added = cost_model.shipped().added_ms["uvicorn"].value
    costs = {"gunicorn-gthread": 12.0, "uvicorn": 12.0 + added, "granian-wsgi": 12.0 / 1.2}
    run = with_costs(build_run(labels=tuple(costs), tests=("throughput",), blocks=4), costs)
    lines = predict("errors", str(file), f"home={run.path}").splitlines()
    assert "asgi: mean log error 0.00" in lines[-2] + lines[-1]
    assert "wsgi: mean log error 0.1" in lines[-2] + lines[-1]
