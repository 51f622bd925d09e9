"""What is written of a profile: the page with the figures of its document and the notes to know before reading on, the
flame graph as an SVG document, and the file for speedscope."""

import copy
import io
import xml.etree.ElementTree as ET
from collections import Counter

import pytest
from rich.console import Console

from loadtests.files import ROOT
from loadtests.profile import flamegraph, page, profiling, speedscope
from loadtests.profile.classify import Category
from loadtests.report.formats.terminal import print_table


def test_cpu_per_request_is_that_without_sampling_and_what_must_be_known_is_among_the_notes(about):
    assert {role["role"]: role["cpu_us_per_request"] for role in about["roles"]} == {"web": 5000.0, "redis": 1000.0}
    notes = "\n".join(about["notes"])
    assert "The project has a remark." in notes
    assert "did not answer 200 requests a second" in notes
    assert "No threads of gunicorn were looked at: py-spy is not installed: run `make setup`." in notes
    assert "redis-server (redis) was not sampled, as it is not Python; it used 16.7% of the CPU time." in notes


def test_the_folder_has_the_page_and_the_samples_of_what_was_sampled(tmp_path, plan, rounds):
    profiling.write(tmp_path, plan, rounds)
    names = {"index.rst", "profile.json", "web-cpu.svg", "web.speedscope.json"}
    assert {file.name for file in tmp_path.iterdir()} == names
    text = (tmp_path / "index.rst").read_text(encoding="utf-8")
    for shown in ("web: 5,000 µs of CPU time per request", "redis: 1,000 µs of CPU time per request", "60.0%"):
        assert shown in text
    assert text.count(".. figure:: web-cpu.svg") == 1


@pytest.mark.parametrize(
    ("samples", "says"),
    [
        (500, ""),
        (250, ": --duration 24s would do"),
        (0, "there are none: send more load, or profile a setup in Python"),
    ],
)
def test_nothing_is_concluded_from_few_samples(about, samples, says):
    document = copy.deepcopy(about) | {"duration_s": 10.0}
    for role, of_role in zip(document["roles"], (samples, 0), strict=True):
        role["samples"] = of_role
    assert page.too_few(document).endswith(says)
    assert page.summary(document)[0].startswith(f"{samples} samples of CPU time;") == bool(says)


def test_the_tables_fit_a_narrow_terminal(about):
    text = io.StringIO()
    tables = [page.table(role) for role in about["roles"]]
    for table in tables:
        print_table(table, Console(file=text, width=50, force_terminal=True, color_system=None))
    lines = text.getvalue().splitlines()
    assert max(map(len, lines)) <= 50
    for category in (row[0].text for table in tables for row in table.rows):
        assert any(line.startswith(category) and "%" in line for line in lines), category


def test_several_setups_are_set_side_by_side(about):
    other = copy.deepcopy(about) | {"setup": "uvicorn"}
    other["roles"] = other["roles"][:1]
    table = page.side_by_side([about, other])
    assert table.columns == ("", "gunicorn", "uvicorn")
    rows = {row[0].text: [field.text for field in row[1:]] for row in table.rows}
    assert rows.pop("all") == ["6,000", "5,000"]
    assert len(rows) >= 2


def test_every_category_and_every_key_of_a_profile_is_explained(about):
    text = (ROOT / "docs" / "profiling.rst").read_text(encoding="utf-8")
    role, window = about["roles"][0], about["windows"][0]
    terms = [f"**{kind.value}**" for kind in Category]
    terms += [f"``{key}``" for key in (*about, *role, *role["shares"][0], *window)]
    assert [term for term in terms if term not in text] == []


def test_a_frame_says_what_it_is_and_how_much_within_its_caller(stacks):
    root = ET.fromstring(flamegraph.svg("web: CPU time", stacks))
    assert [title.text for title in root.iter("{http://www.w3.org/2000/svg}title")] == [
        "web: CPU time: 100.0%, 10 samples",
        "main (gunicorn/base.py:1): 90.0%, 9 samples, server",
        "<lambda> (gunicorn/other.py:1): 10.0%, 1 sample, server",
        "view (views.py:1): 60.0%, 6 samples, view",
    ]
    drawn = {box.label: box for box in flamegraph.boxes(flamegraph.tree("all", stacks))}
    view, main = drawn["view"], drawn["main"]
    assert (view.row, main.row) == (2, 1)
    assert main.x <= view.x
    assert view.x + view.width <= main.x + main.width
    assert view.width == pytest.approx(0.6)


def test_too_narrow_frames_are_left_out_and_samples_without_a_stack_are_drawn(stack):
    many = Counter({stack("much a.py"): 10_000, stack("little b.py"): 1})
    assert [box.label for box in flamegraph.boxes(flamegraph.tree("all", many))] == ["all", "much"]
    _, box = flamegraph.boxes(flamegraph.tree("all", Counter({(): 2})))
    assert (box.label, box.colour) == ("no Python frame", flamegraph.COLOURS[Category.NATIVE])


@pytest.mark.parametrize(("width", "shown"), [(200, "resolve_request"), (60, "resolve…"), (20, "")])
def test_labels_are_cut_to_their_boxes(width, shown):
    assert flamegraph.shortened("resolve_request", width) == shown


def test_speedscopes_samples_and_weights_belong_together(stacks):
    made = speedscope.document("gunicorn", {"CPU": (stacks, 0.01), "threads": (Counter({(): 3}), 0.05)})
    assert made["$schema"].startswith("https://www.speedscope.app/")
    known = len(made["shared"]["frames"])
    for profile in made["profiles"]:
        assert len(profile["samples"]) == len(profile["weights"])
        assert sum(profile["weights"]) == pytest.approx(profile["endValue"])
        assert all(0 <= place < known for sample in profile["samples"] for place in sample)
    assert made["profiles"][0]["endValue"] == pytest.approx(0.1)
    assert {"name": "view", "file": "views.py", "line": 1} in made["shared"]["frames"]
