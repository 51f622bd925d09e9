"""Test the page in a real browser: it fits on a phone, and is readable in light and dark colours.

A script in a copy of the page measures it. Chromium's command line dumps the page with the script's findings.
"""

import functools
import html

import pytest

from loadtests.records import Second
from loadtests.report import reports
from tests.fixtures.chromium import NEEDS_CHROMIUM, probed
from tests.fixtures.colours import contrast, luminance
from tests.report.changed import replaced

pytestmark = NEEDS_CHROMIUM

# The copy has no policy, because the policy forbids scripts. Without the policy, the copy could also load other files.
POLICY = """<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">"""
PROBE = """
const errors = [];
addEventListener("error", (event) => errors.push(event.message));
const colours = (element) => [getComputedStyle(element).color, getComputedStyle(document.body).backgroundColor];
const found = {
  width: innerWidth,
  page: document.documentElement.scrollWidth,
  loaded: performance.getEntriesByType("resource").map((entry) => entry.name),
  text: ["body", "caption span", "td[data-tone=bad]", "td[data-tone=muted]", "a[href='#cost']", "figcaption"]
    .map((selector) => colours(document.querySelector(selector))),
  unnamed: [...document.querySelectorAll("a, summary, [role=region], [role=img]")]
    .filter((element) => !(element.ariaLabel || element.hasAttribute("aria-labelledby") || element.textContent.trim()))
    .length,
  drawn: [...document.querySelectorAll("svg text")].map((text) => getComputedStyle(text).fill),
  marks: [...document.querySelectorAll("svg [data-setup]:not(text)")]
    .flatMap((mark) => [getComputedStyle(mark).fill, getComputedStyle(mark).stroke])
    .filter((colour) => colour.startsWith("rgb(")),
  verdicts: [...document.querySelectorAll("#verdicts tr[data-setup] td:nth-child(3)")]
    .map((cell) => cell.getBoundingClientRect().right),
  chart: document.getElementById("headline").getBoundingClientRect().top,
  drawings: [...document.querySelectorAll("figure svg")].map((drawing) => drawing.getBoundingClientRect().right),
  folded: [...document.querySelectorAll("details:has(figure)")].map((details) => !details.open),
};
found.errors = errors;
const result = parent.document.createElement("pre");
result.id = "probe";
result.textContent = JSON.stringify(found);
parent.document.body.replaceChildren(result);
"""


@pytest.fixture(scope="module")
def opened(run_builder, tmp_path_factory):
    """Return a function that builds a run of a given shape.

    The returned function opens the page in a window with the given width and theme. It returns the script's findings.
    """

    def opened(**shape):
        run = run_builder(tmp_path_factory.mktemp("chromium"))(**shape)
        reports.write(run)
        text = (run.path / "report.html").read_text(encoding="utf-8")
        framed = html.escape(text.replace(POLICY, "").replace("</body>", f"<script>{{{PROBE}}}</script></body>"))
        page = run.path / "probed.html"

        @functools.cache
        def look(width, dark=False):
            # The page is in a frame, because a window is at least 500 pixels wide.
            page.write_text(f'<iframe style="width: {width}px; height: 900px; border: 0" srcdoc="{framed}"></iframe>')
            theme = ["--blink-settings=preferredColorScheme=0"] if dark else []
            return probed(page, tmp_path_factory.mktemp("profile"), *theme)

        return look

    return opened


@pytest.fixture(scope="module")
def probe(opened):
    """Return a function that opens the page of a run of five setups, with pictures over time."""
    seconds = [Second(float(t), 300, 300, 300, 0, 2.0, 8.0, 4.0, ((1.5, 300),), {"200": 300}) for t in range(10)]
    change = replaced(timeline=tuple(seconds))
    return opened(aa=True, tests=("latency", "throughput", "capacity"), change=change)


def test_page_loads_nothing_in_browser(probe):
    found = probe(1200)
    assert (found["loaded"], found["errors"], found["unnamed"]) == ([], [], 0)
    assert all(found["folded"])


@pytest.mark.parametrize("width", [320, 400, 700])
def test_narrow_window_scrolls_only_tables(probe, width):
    found = probe(width)
    assert found["page"] <= found["width"] == width
    assert max(found["verdicts"]) <= width


@pytest.mark.parametrize("width", [720, 1200])
def test_wide_window_shows_whole_charts(probe, width):
    found = probe(width)
    assert found["chart"] < 500
    assert max(found["drawings"]) <= width


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_texts_contrast_with_the_page(probe, theme):
    """WCAG 2 requires 4.5 to 1 for texts and 3 to 1 for graphics."""
    found = probe(1200, dark=theme == "dark")
    page = found["text"][0][1]
    assert (luminance(page) > 0.5) == (theme == "light")
    texts = {colour for colour, _ in found["text"]} | set(found["drawn"])
    assert {colour: contrast(colour, page) for colour in texts if contrast(colour, page) < 4.5} == {}
    marks = {colour for colour in found["marks"] if contrast(colour, page) > 1.05}  # halos have the page's colour
    assert len(marks) >= 6
    assert {colour: contrast(colour, page) for colour in marks if contrast(colour, page) < 3} == {}


def test_many_setups_fit_narrow_page(opened):
    found = opened(labels=("gunicorn", *(f"some-server-{number}" for number in range(18)), "uvicorn"))(400)
    assert found["errors"] == []
    assert found["page"] <= found["width"] == 400
    assert max(found["verdicts"]) <= found["width"]
