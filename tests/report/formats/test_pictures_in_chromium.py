"""Pictures over time in a real browser: the figures of a moment, by the pointer and by the keyboard."""

import dataclasses

import pytest

from loadtests.records import Second
from loadtests.report import reports
from tests.fixtures import chromium

pytestmark = chromium.NEEDS_CHROMIUM

PROBE = """
const errors = [];
addEventListener("error", (event) => errors.push(event.message));
const details = document.querySelector("details:has(figure.seconds)");
const folded = !details.open;
details.open = true;
const svg = details.querySelector("svg");
const tip = () => document.getElementById("tip").hidden ? "" : document.getElementById("tip").textContent;
const box = svg.querySelectorAll("[data-tip]")[3].getBoundingClientRect();
const at = (x, y) => svg.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, clientX: x, clientY: y }));
const press = (key) => svg.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const found = { folded, focusable: svg.tabIndex === 0, named: Boolean(svg.getAttribute("aria-label")) };
at((box.left + box.right) / 2, svg.getBoundingClientRect().bottom - 40); // in the last panel
found.pointed = tip();
found.cursor = svg.querySelectorAll(".cursor").length;
at(svg.getBoundingClientRect().left + 1, box.top);
found.outside = tip();
press("Home");
found.home = tip();
press("ArrowRight");
found.right = tip();
press("End");
press("ArrowRight");
found.end = tip();
press("Escape");
found.escaped = tip();
found.errors = errors;
const result = document.createElement("pre");
result.id = "probe";
result.textContent = JSON.stringify(found);
document.body.replaceChildren(result);
"""


@pytest.fixture(scope="module")
def probed(run_builder, tmp_path_factory):
    """What the probe saw on the page of a run whose seconds say how their requests ended."""

    def change(label, test, block, result):
        seconds = (Second(float(t), 300, 300, 300, 0, 2.0, 8.0, 4.0, ((1.5, 300),), {"200": 300}) for t in range(10))
        return dataclasses.replace(result, timeline=tuple(seconds))

    shape = {"labels": ("gunicorn", "uvicorn"), "tests": ("latency",), "change": change}
    run = run_builder(tmp_path_factory.mktemp("pictures"))(**shape)
    reports.write(run)
    page = run.path / "probed.html"
    text = (run.path / "report.html").read_text(encoding="utf-8")
    page.write_text(text.replace("</body>", f"<script>{{{PROBE}}}</script></body>"), encoding="utf-8")
    return chromium.probed(page, tmp_path_factory.mktemp("profile"))


def test_a_picture_is_folded_and_can_be_reached(probed):
    assert probed["errors"] == []
    assert all(probed[key] for key in ("folded", "focusable", "named"))


def test_the_pointer_shows_the_moment_it_is_at_in_whichever_panel(probed):
    assert probed["pointed"].startswith("gunicorn: second 4: 300/s 200, p50 2.00 ms")
    assert (probed["cursor"], probed["outside"]) == (1, "")


def test_the_keyboard_goes_from_moment_to_moment(probed):
    for key, second in (("home", 1), ("right", 2), ("end", 10)):
        assert probed[key].startswith(f"gunicorn: second {second}: ")
    assert probed["escaped"] == ""
