"""The pages of a profile say what its document has, and what to know before reading on."""

import html
import io
import json
import re
import shutil
import subprocess

import pytest
from rich.console import Console

from loadtests.profile import profiling
from loadtests.report.formats.terminal import print_table

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
FLAGS += ["--disable-background-networking", "--disable-extensions", "--disable-sync"]

PROBE = """
const errors = [];
addEventListener("error", (event) => errors.push(event.message));
const svg = document.querySelector("svg.flame");
const frames = [...svg.querySelectorAll(".frame")];
const named = (name) => frames.find((frame) => frame.dataset.label === name);
const width = (name) => Number(named(name).querySelector("rect").getAttribute("width"));
const shown = () => frames.filter((frame) => frame.style.display !== "none").map((frame) => frame.dataset.label);
const found = { before: width("view"), all: shown() };
named("view").dispatchEvent(new MouseEvent("click", { bubbles: true }));
found.widened = width("view");
found.left = shown();
named("view").dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
found.again = shown();
frames[0].focus();
frames[0].dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true }));
found.focused = document.activeElement.dataset.label;
const input = svg.querySelector("input");
input.value = "VIEW";
input.dispatchEvent(new Event("input", { bubbles: true }));
found.hits = svg.querySelector(".found").textContent;
found.width = svg.getBoundingClientRect().width;
found.room = svg.parentElement.clientWidth;
found.beyond = [...svg.querySelectorAll("text")].filter((text) => text.getBBox().x + text.getBBox().width > found.width)
  .map((text) => text.textContent);
found.page = document.documentElement.scrollWidth <= innerWidth;
found.errors = errors;
const result = parent.document.createElement("pre");
result.id = "probe";
result.textContent = JSON.stringify(found);
parent.document.body.replaceChildren(result);
"""


@pytest.fixture
def folder(tmp_path, plan, rounds):
    """A profile's folder, written."""
    profiling.write(tmp_path, plan, rounds)
    return tmp_path


def test_cpu_per_request_is_that_without_sampling(about):
    assert {role["role"]: role["cpu_us_per_request"] for role in about["roles"]} == {"web": 5000.0, "redis": 1000.0}


def test_what_must_be_known_is_among_the_notes(about):
    notes = "\n".join(about["notes"])
    assert "The project has a remark." in notes
    assert "did not answer 200 requests a second" in notes
    assert "No threads of gunicorn were looked at: py-spy is not installed: run `make setup`." in notes
    assert "redis-server (redis) was not sampled, as it is not Python; it used 16.7% of the CPU time." in notes


def test_the_folder_has_drawings_and_samples_of_what_was_sampled(folder):
    assert {file.name for file in folder.iterdir()} == {
        "index.html",
        "index.rst",
        "profile.json",
        "web-cpu.svg",
        "web-threads.svg",
        "web.speedscope.json",
    }


@pytest.mark.parametrize("width", [50, 80])
def test_the_tables_fit_a_narrow_terminal(tmp_path, plan, rounds, width):
    page = profiling.write(tmp_path, plan, rounds)
    text = io.StringIO()
    for role in page.roles:
        print_table(role.table(page.columns), Console(file=text, width=width, force_terminal=True, color_system=None))
    lines = text.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    for share in (row.cells[0] for role in page.roles for row in role.rows):
        assert any(line.startswith(share) and "%" in line for line in lines), share


@pytest.mark.parametrize("name", ["index.html", "index.rst"])
def test_each_role_has_its_table(folder, name):
    text = (folder / name).read_text(encoding="utf-8")
    for shown in (
        "web: 5,000 µs of CPU time per request",
        "redis: 1,000 µs of CPU time per request",
        "60.0%",
        "100.0%",
    ):
        assert shown in text


def test_the_page_needs_no_network(folder):
    text = (folder / "index.html").read_text(encoding="utf-8")
    assert re.findall(r'(?:src|href)="(?!#)(?!https://www\.speedscope)[^"]*"', text) == [
        'href="web-cpu.svg"',
        'href="web.speedscope.json"',
        'href="web-threads.svg"',
        'href="web.speedscope.json"',
    ]


@pytest.fixture
def opened(folder, tmp_path_factory):
    """A function: opens the page in a window of that width; gives what the probe saw."""
    text = (folder / "index.html").read_text(encoding="utf-8")
    probed = html.escape(text.replace("</body>", f"<script>{{{PROBE}}}</script></body>"))
    page = folder / "probed.html"

    def look(width):
        # In a frame, for a window is at least 500 pixels wide.
        page.write_text(f'<iframe style="width: {width}px; height: 900px; border: 0" srcdoc="{probed}"></iframe>')
        profile = f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"
        command = [CHROMIUM, *FLAGS, profile, "--window-size=1600,1000", "--dump-dom", page.as_uri()]
        dump = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
        match = re.search(r'<pre id="probe">(.*?)</pre>', dump, re.DOTALL)
        assert match, dump[-2000:]
        found = json.loads(match[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
        assert found["errors"] == []
        return found

    return look


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on PATH")
def test_a_frame_widens_and_functions_are_found(opened):
    found = opened(1000)
    assert (found["before"] / found["width"], found["widened"]) == (pytest.approx(0.6), found["width"])
    assert found["left"] == ["web: CPU time", "main", "view"]
    assert found["again"] == found["all"]
    assert found["focused"] == "main"
    assert found["hits"] == "in 60.0% of the samples"
    assert found["page"]


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on PATH")
@pytest.mark.parametrize("width", [400, 800, 1400])
def test_a_flame_graph_is_as_wide_as_there_is_room(opened, width):
    found = opened(width)
    assert found["width"] == found["room"] <= width
    assert found["beyond"] == []
    assert found["page"]
