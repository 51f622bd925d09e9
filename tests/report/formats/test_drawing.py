"""Test that shortened drawings look the same."""

import xml.etree.ElementTree as ET

import pytest
import vl_convert

from loadtests.analyse.results import Results
from loadtests.report import page as pages
from loadtests.report.charts.palette import DARK
from loadtests.report.formats import drawing, render

LABELS = ("gunicorn", "daphne")


@pytest.fixture(scope="module")
def charts(run_builder, tmp_path_factory):
    run = run_builder(tmp_path_factory.mktemp("drawn"))(labels=LABELS, aa=True, tests=("throughput", "capacity"))
    return {chart.name: (chart, render.svg(chart.spec)) for chart in pages.compose(Results(run)).charts}


@pytest.mark.exhaustive
def test_shorter_drawing_is_the_same_picture(charts):
    for name, (chart, long) in charts.items():
        short = drawing.file(long, chart.alt)
        assert len(short) < len(long) / 2, name
        assert vl_convert.svg_to_png(short) == vl_convert.svg_to_png(long), name


def test_drawing_is_one_accessible_image(charts):
    for chart, long in charts.values():
        root = ET.fromstring(drawing.file(long, chart.alt))
        assert (root.get("role"), root.get("aria-label")) == ("img", chart.alt)
        assert not any({"role", "aria-label"} & element.attrib.keys() for element in root.iter() if element is not root)
        style = root.findtext("{http://www.w3.org/2000/svg}style")
        painted = {element.get(key) for element in root.iter() for key in ("fill", "stroke")}
        inner = drawing.inlined(drawing.file(long, chart.alt, LABELS), chart.alt, "a", ())
        assert "<style" not in inner
        assert inner == drawing.inlined(long, chart.alt, "a", LABELS)
        assert all(dark in style for light, dark in DARK.items() if light in painted)
