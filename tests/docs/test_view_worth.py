"""Test the chart and the tables of the page that shows how much the choice of a server matters for a view."""

import re

import pytest
import reference_model
import view_worth

from loadtests.analyse import cost_model

pytestmark = pytest.mark.exhaustive  # it takes half a minute to read the three committed runs


def test_chart_title_contains_the_finding():
    svg, words = view_worth.chart()
    assert view_worth.title() in svg
    assert re.fullmatch(
        r"At 10 ms of CPU, WSGI servers differ by \d+%, and ASGI costs \d+% to \d+%", view_worth.title()
    )
    for text in ("WSGI: Granian, uWSGI", "lines: predicted", "dots: measured", "a template with 100 rows"):
        assert text in svg
    assert all(f"{label} ×" in words for label in reference_model.shown())


def test_prediction_errors_cover_held_out_views():
    lines = list(view_worth.errors())
    assert sum(line.startswith("   * - ``") for line in lines) == len(reference_model.held_out()) >= 12
    assert not any("``json``" in line for line in lines)
    assert [line[:8] for line in lines[-3:] if line] == ["- WSGI: ", "- ASGI: "]


def test_shipped_model_matches_newest_run():
    shipped = cost_model.SHIPPED.read_text(encoding="utf-8")
    message = "update it: PYTHONPATH=. .venv/bin/python docs/_ext/readme.py"
    assert shipped == cost_model.encoded(reference_model.model()), message
