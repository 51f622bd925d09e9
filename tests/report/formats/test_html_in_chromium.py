"""The page in a real browser, from a file: its scripts run, it fits a phone, it can be read in light and dark.

Chromium is driven by its own command line: a probe is added to a copy of the page, and what it wrote is read back from
the page's dump.
"""

import functools
import html
import re

import pytest

from loadtests.records import Second
from loadtests.report import reports
from tests.fixtures.chromium import NEEDS_CHROMIUM, probed
from tests.fixtures.colours import contrast, luminance
from tests.report.changed import replaced

pytestmark = NEEDS_CHROMIUM

PROBE = """
const errors = [];
addEventListener("error", (event) => errors.push(event.message));
const colours = (element) => [getComputedStyle(element).color, getComputedStyle(document.body).backgroundColor];
const button = document.querySelector('button[data-label="uvicorn"]');
const faded = () => [...document.querySelectorAll(".faded")].map((element) => element.dataset.setup);
const found = {
  buttons: !document.getElementById("highlight").hidden,
  before: faded(),
  width: innerWidth,
  page: document.documentElement.scrollWidth,
  loaded: performance.getEntriesByType("resource").map((entry) => entry.name),
  text: ["body", "caption span", "td[data-tone=bad]", "td[data-tone=muted]", "a[href='#cost']", "figcaption"]
    .map((selector) => colours(document.querySelector(selector))),
  stops: [...document.querySelectorAll(".scroll")]
    .filter((box) => {
      const scrolls = box.scrollWidth > box.clientWidth;
      return (box.tabIndex === 0) !== scrolls || (box.role === "region") !== scrolls;
    })
    .map((box) => box.textContent.slice(0, 40)),
  scrolling: document.querySelectorAll('.scroll[tabindex="0"]').length,
  unnamed: [...document.querySelectorAll("a, button, summary, [role=region], [role=img]")]
    .filter((element) => !(element.ariaLabel || element.hasAttribute("aria-labelledby") || element.textContent.trim()))
    .length,
  drawn: [...document.querySelectorAll("svg text")].map((text) => getComputedStyle(text).fill),
  marks: [...document.querySelectorAll("svg [data-setup]:not(text)")]
    .flatMap((mark) => [getComputedStyle(mark).fill, getComputedStyle(mark).stroke])
    .filter((colour) => colour.startsWith("rgb(")),
  verdicts: [...document.querySelectorAll("#verdicts tr[data-setup] td:nth-child(3)")]
    .map((cell) => cell.getBoundingClientRect().right),
  notes: [...document.querySelectorAll(".row > *")].map((part) => part.getBoundingClientRect().right),
  chart: document.getElementById("headline").getBoundingClientRect().top,
  offered: [...document.querySelectorAll("#highlight button")].map((offered) => offered.dataset.label),
  drawings: [...document.querySelectorAll("figure svg")].map((drawing) => drawing.getBoundingClientRect().right),
  sticky: document.getElementById("highlight").offsetHeight,
};
button.click();
found.after = faded();
button.click();
found.again = faded();
const own = document.querySelector('button[data-label="gunicorn"]');
own.click();
found.ratios = document.querySelectorAll("#verdicts figure .faded").length;
own.click();
const memory = [...document.querySelectorAll(".summary thead th")].at(-1);
memory.querySelector("button").click();
found.sorted = [...document.querySelectorAll(".summary tbody tr")].map((row) => row.cells[4].textContent);
found.order = memory.ariaSort;
const mark = document.querySelector("[data-tip]");
const box = mark.getBoundingClientRect();
mark.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, clientX: box.x, clientY: box.y }));
found.tip = document.getElementById("tip").hidden ? "" : document.getElementById("tip").textContent;
const details = document.querySelector("details:has(figure.seconds)");
if (details) {
  found.folded = !details.open;
  details.open = true;
  const svg = details.querySelector("svg");
  const tip = () => document.getElementById("tip").hidden ? "" : document.getElementById("tip").textContent;
  const fourth = svg.querySelectorAll("[data-tip]")[3].getBoundingClientRect();
  const at = (x, y) => svg.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, clientX: x, clientY: y }));
  const press = (key) => svg.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  found.focusable = svg.tabIndex === 0 && Boolean(svg.getAttribute("aria-label"));
  at((fourth.left + fourth.right) / 2, svg.getBoundingClientRect().bottom - 40); // in the last panel
  found.pointed = tip();
  found.cursor = svg.querySelectorAll(".cursor").length;
  at(svg.getBoundingClientRect().left + 1, fourth.top);
  found.outside = tip();
  found.pressed = ["Home", "ArrowRight", "End", "ArrowRight", "Escape"].map((key) => { press(key); return tip(); });
}
found.errors = errors;
const result = parent.document.createElement("pre");
result.id = "probe";
result.textContent = JSON.stringify(found);
parent.document.body.replaceChildren(result);
"""


@pytest.fixture(scope="module")
def opened(run_builder, tmp_path_factory):
    """Gives a function that builds a run of that shape and returns one that opens its page in a window of that width,
    in the theme, and returns what the probe saw."""

    def opened(**shape):
        run = run_builder(tmp_path_factory.mktemp("chromium"))(**shape)
        reports.write(run)
        text = (run.path / "report.html").read_text(encoding="utf-8")
        framed = html.escape(text.replace("</body>", f"<script>{{{PROBE}}}</script></body>"))
        page = run.path / "probed.html"

        @functools.cache
        def look(width, dark=False):
            # In a frame, for a window is at least 500 pixels wide.
            page.write_text(f'<iframe style="width: {width}px; height: 900px; border: 0" srcdoc="{framed}"></iframe>')
            theme = ["--blink-settings=preferredColorScheme=0"] if dark else []
            return probed(page, tmp_path_factory.mktemp("profile"), *theme)

        return look

    return opened


@pytest.fixture(scope="module")
def probe(opened):
    """Opens the page of five setups, with pictures over time."""
    seconds = [Second(float(t), 300, 300, 300, 0, 2.0, 8.0, 4.0, ((1.5, 300),), {"200": 300}) for t in range(10)]
    change = replaced(timeline=tuple(seconds))
    return opened(aa=True, tests=("latency", "throughput", "capacity"), change=change)


def test_a_highlighted_setup_fades_the_others_in_charts_and_tables(probe):
    found = probe(1200)
    assert (found["loaded"], found["errors"]) == ([], [])
    assert found["buttons"]
    assert found["before"] == found["again"] == []
    assert set(found["after"]) == {"gunicorn", "daphne-redis", "daphne-ipc", "daphne", "gunicorn-again"}
    assert found["ratios"] == 0  # the baseline, which is in no chart of ratios to it
    assert "gunicorn-again" not in found["offered"]


def test_a_table_is_sorted_by_a_column_and_the_figure_under_the_pointer_is_shown(probe):
    found = probe(1200)
    assert found["order"] == "ascending"
    assert found["sorted"] == sorted(found["sorted"], key=float)
    assert re.match(r"[a-z-]+: .*\d", found["tip"])


def test_the_keyboard_stops_at_what_scrolls_and_at_nothing_else_and_all_has_a_name(probe):
    assert probe(1200)["stops"] == probe(400)["stops"] == []
    assert 0 < probe(1200)["scrolling"] < probe(400)["scrolling"]
    assert probe(1200)["unnamed"] == 0


@pytest.mark.parametrize("width", [320, 400, 700])
def test_a_narrow_window_scrolls_tables_and_charts_but_not_the_page_and_cuts_no_verdict(probe, width):
    found = probe(width)
    assert found["page"] <= found["width"] == width
    assert max(*found["verdicts"], *found["notes"]) <= width


@pytest.mark.parametrize("width", [720, 1200])
def test_a_wide_window_has_a_chart_at_once_and_shows_all_whole(probe, width):
    found = probe(width)
    assert found["chart"] < 500
    assert max(*found["drawings"], *found["notes"]) <= width


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_all_texts_and_marks_stand_out_from_the_page(probe, theme):
    """Texts at 4.5 to 1 and graphics at 3 to 1, as WCAG 2 asks."""
    found = probe(1200, dark=theme == "dark")
    page = found["text"][0][1]
    assert (luminance(page) > 0.5) == (theme == "light")
    texts = {colour for colour, _ in found["text"]} | set(found["drawn"])
    assert {colour: contrast(colour, page) for colour in texts if contrast(colour, page) < 4.5} == {}
    marks = {colour for colour in found["marks"] if contrast(colour, page) > 1.05}  # the halo is the page's own colour
    assert len(marks) >= 6
    assert {colour: contrast(colour, page) for colour in marks if contrast(colour, page) < 3} == {}


def test_a_picture_shows_the_moment_that_the_pointer_or_the_keyboard_is_at(probe):
    found = probe(1200)
    assert found["folded"]
    assert found["focusable"]
    assert re.match(r"[a-z-]+: second 4: 300/s 200, p50 2.00 ms", found["pointed"])  # in whichever panel
    assert (found["cursor"], found["outside"]) == (1, "")
    shown = [text.split(": ")[1] if text else "" for text in found["pressed"]]
    assert shown == ["second 1", "second 2", "second 10", "second 10", ""]


def test_many_setups_leave_room_on_a_narrow_page(opened):
    found = opened(labels=("gunicorn", *(f"some-server-{number}" for number in range(18)), "uvicorn"))(400)
    assert found["errors"] == []
    assert found["page"] <= found["width"] == 400
    assert found["sticky"] < 70  # one row of buttons, however many they are
    assert max(found["verdicts"]) <= found["width"]
