"""Test that axe-core finds no accessibility problems in the documentation, the explorer and a report.

The pages are tested in light and dark colours, and in windows of a desktop and of a phone.
"""

import json

import pytest

from loadtests.files import ROOT
from tests.fixtures.chromium import NEEDS_CHROMIUM, keyboard

pytestmark = [*NEEDS_CHROMIUM, pytest.mark.timeout(900)]  # the first test builds the pages
PAGES = (
    "index.html",
    "choosing.html",
    "results/matrix.html",
    "results/explorer.html",
    "results/reference-2026-11-26-first-look/report.html",
)
RULES = "axe.run(document, {resultTypes: ['violations']}).then((found) => JSON.stringify(found.violations))"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with keyboard(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


def violations(browser, page):
    """Return axe's findings on a page. Each finding contains the rule, the element and the reason."""
    browser.open(page.as_uri())
    axe = (ROOT / "node_modules/axe-core/axe.min.js").read_text(encoding="utf-8")
    browser.send("Runtime.evaluate", expression=axe)
    done = browser.send("Runtime.evaluate", expression=RULES, awaitPromise=True, returnByValue=True)
    nodes = ((rule["id"], node) for rule in json.loads(done["result"]["value"]) for node in rule["nodes"])
    return [f"{name}: {node['target']}: {' '.join(node['failureSummary'].split())}" for name, node in nodes]


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_page_is_accessible(browser, site, page, scheme, width):
    browser.emulate(width, scheme)
    assert violations(browser, site / page) == []


def test_inaccessible_page_is_detected(browser, tmp_path):
    page = tmp_path / "wrong.html"
    page.write_text("<html lang=en><title>A page</title><main><h1>Chart</h1><img src=chart.svg></main>")
    assert [line.partition(":")[0] for line in violations(browser, page)] == ["image-alt"]
