"""Test the explorer of committed runs in a browser. The address of the page contains the user's choices."""

import csv
import html
import shutil
from pathlib import Path

import explorer
import pytest
from reference_runs import References

from loadtests.files import ROOT
from tests.fixtures.chromium import NEEDS_CHROMIUM, probed

pytestmark = NEEDS_CHROMIUM
RUN = "reference-2026-11-26-first-look"
PROBE = """
const errors = [];
addEventListener("error", (event) => errors.push(event.message));
addEventListener("load", async () => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const cells = () => all("#explorer-table tbody tr").map((row) => [...row.cells].map((cell) => cell.textContent));
  const drawn = async () => {
    for (let turn = 0; turn < 200 && !all("#explorer-chart svg").length; turn++)
      await new Promise((go) => setTimeout(go, 20));
    return all("#explorer-chart svg text").map((text) => text.textContent);
  };
  const put = (name, value) => {
    document.querySelector(`[name=${name}]`).value = value;
    document.querySelector(`[name=${name}]`).dispatchEvent(new Event("input", { bubbles: true }));
  };
  const found = { first: cells(), texts: await drawn(), width: innerWidth, page: document.documentElement.scrollWidth };
  put("sort", "setup");
  put("filter", "channel layer, uvicorn");
  found.filtered = cells();
  const box = document.querySelector("[name=setup][value=uvicorn]");
  box.click();
  found.address = location.hash;
  found.picked = cells();
  put("test", "latency");
  found.judged = document.querySelector("[name=metric]").value;
  const entries = performance.getEntriesByType("resource").map((entry) => entry.name);
  found.loaded = [...entries, ...all("[src]").map((one) => one.src)];
  found.errors = errors;
  const result = parent.document.createElement("pre");
  result.id = "probe";
  result.textContent = JSON.stringify(found);
  parent.document.body.replaceChildren(result);
});
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Return what the explorer shows for one committed run, in a window of a phone's size."""
    folder = tmp_path_factory.mktemp("explorer")
    (folder / "results").mkdir()
    (folder / "results" / RUN).symlink_to(ROOT / "results" / RUN)
    shutil.copy(ROOT / "docs/_static/explorer.js", folder)
    explorer.write_vega(folder)
    body = explorer.body(References(folder / "results"), ".")
    page = f'<script>{{{PROBE}}}</script><section id="explorer">{body}</section>'  # like Sphinx's section
    (folder / "inner.html").write_text(page, encoding="utf-8")
    address = html.escape("inner.html#test=throughput&metric=rps")
    (folder / "page.html").write_text(f'<iframe style="width: 400px; height: 900px" src="{address}"></iframe>')
    flags = ("--allow-file-access-from-files", "--virtual-time-budget=20000")
    return probed(folder / "page.html", tmp_path_factory.mktemp("profile"), *flags)


def test_explorer_shows_view_in_its_address(found):
    with (ROOT / "results" / RUN / "summary.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["test"] == "throughput"]
    best = sorted(rows, key=lambda row: -float(row["rps"]))
    assert [cells[0] for cells in found["first"]] == [row["label"] for row in best]
    assert found["first"][0][1:3] == ["WSGI", f"{float(best[0]['rps']):,.0f}"]
    assert {"gunicorn", "daphne-ipc", "ASGI over a channel layer"} <= set(found["texts"])


def test_choices_are_stored_in_address(found):
    assert [cells[0] for cells in found["filtered"]] == ["daphne-ipc", "daphne-redis", "uvicorn"]
    assert [cells[0] for cells in found["picked"]] == ["daphne-ipc", "daphne-redis"]
    for part in ("test=throughput", "metric=rps", "sort=setup", "filter=channel+layer", "without=uvicorn"):
        assert part in found["address"]
    assert found["judged"] == "p50_ms"


def test_explorer_only_loads_local_files(found):
    assert {Path(address).name for address in found["loaded"]} == {"explorer.js", "vega.js"}
    assert all(address.startswith("file:") for address in found["loaded"])
    assert found["errors"] == []
    assert found["page"] <= found["width"]
