"""Test the figures and the page of a profile."""

import copy
import io

import pytest
from rich.console import Console

from loadtests.files import ROOT
from loadtests.profile import page, profiling
from loadtests.profile.classify import Category
from loadtests.report.formats.terminal import print_table


def test_page_shows_unsampled_cpu_time(about):
    assert {role["role"]: role["cpu_us_per_request"] for role in about["roles"]} == {"web": 5000.0, "redis": 1000.0}
    notes = "\n".join(about["notes"])
    assert "The project has a remark." in notes
    assert "did not answer 200 requests a second" in notes
    assert "redis-server (redis) isn't Python, so it wasn't sampled. It used 16.7% of the CPU time." in notes


def test_folder_contains_page_and_figures(tmp_path, plan, rounds):
    profiling.write(tmp_path, plan, rounds, "py-spy is not installed: run `make setup`")
    assert {file.name for file in tmp_path.iterdir()} == {"index.rst", "profile.json"}
    text = (tmp_path / "index.rst").read_text(encoding="utf-8")
    for shown in ("web: 5,000 µs of CPU time per request", "redis: 1,000 µs of CPU time per request", "60.0%"):
        assert shown in text
    assert "The files for speedscope are missing: py-spy is not installed: run \\`make setup\\`." in text


@pytest.mark.parametrize(
    ("samples", "says"),
    [
        (500, ""),
        (250, ": use --duration 24s"),
        (0, "the process has no samples. Send more load, or profile a setup in Python"),
    ],
)
def test_few_samples_allow_no_conclusion(about, samples, says):
    document = copy.deepcopy(about) | {"duration_s": 10.0}
    for role, of_role in zip(document["roles"], (samples, 0), strict=True):
        role["samples"] = of_role
    assert page.too_few(document).endswith(says)
    assert page.summary(document)[0].startswith(f"{samples} samples of CPU time;") == bool(says)


def test_tables_fit_a_narrow_terminal(about):
    text = io.StringIO()
    tables = [page.table(role) for role in about["roles"]]
    for table in tables:
        print_table(table, Console(file=text, width=50, force_terminal=True, color_system=None))
    lines = text.getvalue().splitlines()
    assert max(map(len, lines)) <= 50
    for category in (row[0].text for table in tables for row in table.rows):
        assert any(line.startswith(category) and "%" in line for line in lines), category


def test_several_setups_are_compared(about):
    other = copy.deepcopy(about) | {"setup": "uvicorn"}
    other["roles"] = other["roles"][:1]
    table = page.side_by_side([about, other])
    assert table.columns == ("", "gunicorn", "uvicorn")
    rows = {row[0].text: [field.text for field in row[1:]] for row in table.rows}
    assert rows.pop("all") == ["6,000", "5,000"]
    assert len(rows) >= 2


def test_every_category_is_explained(about):
    text = (ROOT / "docs" / "profiling.rst").read_text(encoding="utf-8")
    role = about["roles"][0]
    terms = [f"**{kind.value}**" for kind in Category]
    terms += [f"``{key}``" for key in (*about, *role, *role["shares"][0])]
    assert [term for term in terms if term not in text] == []
