"""The flame graph is an SVG document, the speedscope file what its format says."""

import xml.etree.ElementTree as ET
from collections import Counter

import pytest

from loadtests.profile import flamegraph, speedscope
from loadtests.profile.classify import Category

SVG = "{http://www.w3.org/2000/svg}"


def test_a_frame_says_what_it_is_and_how_much_within_its_caller(stacks):
    root = ET.fromstring(flamegraph.svg("web: CPU time", stacks))
    assert [title.text for title in root.iter(f"{SVG}title")] == [
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
