"""Test the page in a real browser: it fits on a phone, and is readable in light and dark colours."""

import pytest

from loadtests.records import Second
from loadtests.report import reports
from tests.fixtures.chromium import NEEDS_CHROMIUM, keyboard
from tests.fixtures.colours import contrast, luminance
from tests.report.changed import replaced

pytestmark = NEEDS_CHROMIUM

LABELS = ("gunicorn", "uvicorn", *(f"some-server-{number}" for number in range(8)))
UNNAMED = """
[...document.querySelectorAll("a, summary, [role=region], [role=img]")]
  .filter((one) => !(one.ariaLabel || one.hasAttribute("aria-labelledby") || one.textContent.trim())).length
"""
FOLDED = "[...document.querySelectorAll('details:has(figure)')].map((details) => !details.open)"
RIGHT = "Math.max(...[...document.querySelectorAll('{}')].map((one) => one.getBoundingClientRect().right))"
COLOURS = """
[...document.querySelectorAll("{}")].map((one) => getComputedStyle(one))
  .flatMap((style) => {}).filter((colour) => colour.startsWith("rgb("))
"""


@pytest.fixture(scope="module")
def browser(run_builder, tmp_path_factory):
    """Return a browser with the page of a run of several setups, with pictures over time."""
    seconds = [Second(float(t), 300, 300, 300, 0, 2.0, 8.0, 4.0, ends={"200": 300}) for t in range(10)]
    build = run_builder(tmp_path_factory.mktemp("chromium"))
    tests, change = ("latency", "throughput", "capacity"), replaced(timeline=tuple(seconds))
    run = build(labels=LABELS, aa=True, tests=tests, change=change)
    reports.write(run)
    with keyboard(tmp_path_factory.mktemp("profile")) as opened:
        opened.open((run.path / "report.html").as_uri())
        yield opened


@pytest.fixture
def ask(browser):
    """Return a function that returns the value of an expression in a window with the given width and theme."""

    def ask(expression, width=1200, theme="light"):
        browser.emulate(width, theme)
        return browser.ask(expression)

    return ask


def test_regions_have_names_and_pictures_are_folded(ask):
    assert ask(UNNAMED) == 0
    assert all(ask(FOLDED))


@pytest.mark.parametrize("width", [320, 400, 700])
def test_narrow_window_scrolls_only_tables(ask, width):
    assert ask("document.documentElement.scrollWidth", width) <= width
    assert ask(RIGHT.format("#verdicts tr[data-setup] td:nth-child(3)"), width) <= width


@pytest.mark.parametrize("width", [720, 1200])
def test_wide_window_shows_whole_charts(ask, width):
    assert ask("document.getElementById('headline').getBoundingClientRect().top", width) < 500
    assert ask(RIGHT.format("figure svg"), width) <= width


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_charts_contrast_with_the_page(ask, theme):
    """WCAG 2 requires 4.5 to 1 for texts and 3 to 1 for graphics."""
    page = ask("getComputedStyle(document.body).backgroundColor", theme=theme)
    assert (luminance(page) > 0.5) == (theme == "light")
    texts = set(ask(COLOURS.format("svg text", "style.fill"), theme=theme))
    assert {colour: contrast(colour, page) for colour in texts if contrast(colour, page) < 4.5} == {}
    marks = set(ask(COLOURS.format("svg :not(text):has(> title)", "[style.fill, style.stroke]"), theme=theme))
    marks = {colour for colour in marks if contrast(colour, page) > 1.05}  # halos have the page's colour
    assert len(marks) >= 6
    assert {colour: contrast(colour, page) for colour in marks if contrast(colour, page) < 3} == {}
