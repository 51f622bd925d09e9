"""Test the explorer of committed runs in a browser. The address of the page contains the user's choices."""

import csv
import shutil
import time
from pathlib import Path

import explorer
import pytest
from reference_runs import References

from loadtests.files import ROOT
from tests.fixtures.chromium import NEEDS_CHROMIUM, keyboard

pytestmark = NEEDS_CHROMIUM
RUN = "reference-2026-11-26-first-look"
CELLS = """
[...document.querySelectorAll("#explorer-table tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent))
"""
TEXTS = "[...document.querySelectorAll('#explorer-chart svg text')].map((text) => text.textContent)"
LOADED = "[...document.querySelectorAll('[src]')].map((one) => one.src)"
PUT = """
document.querySelector("[name={name}]").value = "{value}";
document.querySelector("[name={name}]").dispatchEvent(new Event("input", {{ bubbles: true }}));
"""


@pytest.fixture
def page(tmp_path):
    """Return a browser with the explorer of one committed run, in a window of a phone's size."""
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / RUN).symlink_to(ROOT / "results" / RUN)
    shutil.copy(ROOT / "docs/_static/explorer.js", tmp_path)
    explorer.write_vega(tmp_path)
    body = explorer.body(References(tmp_path / "results"), ".")
    (tmp_path / "page.html").write_text(f'<section id="explorer">{body}</section>', encoding="utf-8")
    with keyboard(tmp_path / "profile") as page:
        page.emulate(400)
        page.open(f"{(tmp_path / 'page.html').as_uri()}#test=throughput&metric=rps")
        yield page


def put(page, name, value):
    page.ask(PUT.format(name=name, value=value))


def test_explorer_shows_view_in_its_address(page):
    with (ROOT / "results" / RUN / "summary.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["test"] == "throughput"]
    best = sorted(rows, key=lambda row: -float(row["rps"]))
    cells = page.ask(CELLS)
    assert [row[0] for row in cells] == [row["label"] for row in best]
    assert cells[0][1:3] == ["WSGI", f"{float(best[0]['rps']):,.0f}"]
    end = time.monotonic() + 20
    while not (texts := page.ask(TEXTS)) and time.monotonic() < end:
        time.sleep(0.1)
    assert {"gunicorn", "daphne-ipc", "ASGI over a channel layer"} <= set(texts)
    loaded = page.ask(LOADED)
    assert {Path(address).name for address in loaded} == {"explorer.js", "vega.js"}
    assert all(address.startswith("file:") for address in loaded)
    assert page.ask("document.documentElement.scrollWidth") <= 400


def test_choices_are_stored_in_address(page):
    put(page, "sort", "setup")
    put(page, "filter", "channel layer, uvicorn")
    assert [row[0] for row in page.ask(CELLS)] == ["daphne-ipc", "daphne-redis", "uvicorn"]
    page.ask("document.querySelector('[name=setup][value=uvicorn]').click()")
    assert [row[0] for row in page.ask(CELLS)] == ["daphne-ipc", "daphne-redis"]
    address = page.ask("location.hash")
    for part in ("test=throughput", "metric=rps", "sort=setup", "filter=channel+layer", "without=uvicorn"):
        assert part in address
    put(page, "test", "latency")
    assert page.ask("document.querySelector('[name=metric]').value") == "p50_ms"
