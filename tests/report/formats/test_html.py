"""Test the HTML page, which must be a single, complete and safe file."""

import html as markup
import re

import pytest

from loadtests.records.run.run_record import Git, SetupRecord
from loadtests.report.formats import render
from loadtests.report.formats.html import html
from tests.fixtures.pages import page_of

BLANK = '<svg xmlns="http://www.w3.org/2000/svg"/>'


@pytest.fixture
def page(build_run):
    """Return a function that builds a run of a given shape and returns the run's page with empty charts."""
    return lambda **shape: written(build_run(**{"labels": ("gunicorn",), "blocks": 1, **shape}), lambda chart: BLANK)


@pytest.fixture(scope="module")
def usual(run_builder, tmp_path_factory):
    """Return the page of a run with five setups, three kinds of tests, one block, and the baseline twice."""
    build = run_builder(tmp_path_factory.mktemp("usual"))
    run = build(blocks=1, aa=True, tests=("latency", "throughput", "capacity"))
    return written(run, lambda chart: render.svg(chart.spec))


def written(run, draw):
    content = page_of(run)
    return html(content, {chart.name: draw(chart) for chart in content.charts})


def test_page_needs_no_external_files(usual):
    assert re.findall(r"<(?:link|script|img|iframe|object)|srcset|@import|url\((?!#)", usual) == []
    assert set(re.findall(r"https?://[^\s\"'<)]+", usual)) <= {"http://www.w3.org/2000/svg"}
    assert '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; ' in usual
    assert len(usual.encode()) < 500_000


def test_verdicts_are_grouped_by_metric(usual):
    sections = re.findall(r'<section id="([^"]+)"', usual)
    assert " ".join(sections) == "verdicts latency throughput capacity cost every compared invalid repeat"
    for name in ("verdicts", "latency", "throughput", "capacity", "cost"):
        section = usual.partition(f'<section id="{name}"')[2].partition("</section>")[0]
        assert 0 < section.rindex("<figure") < section.index("<table"), name
    table = usual.partition('id="verdicts-latency-caption"')[2].partition("</table>")[0]
    groups = ["p50 response time", "p99 response time", "CPU per request"]
    assert re.findall(r'scope="rowgroup" colspan="5">([^<]+)', table) == groups
    assert table.count("<tbody>") == table.count("</tbody>") == 3


def test_charts_have_descriptions(usual):
    charts = re.findall(r'<svg [^>]*aria-label="([^"]+)"', usual)
    assert len(charts) == usual.count("<figure") == 10
    # gunicorn's p50 in block 1 is 2 ms × 1.01, without jitter
    assert any("gunicorn 2.02" in text.partition("p50: ")[2].partition(";")[0] for text in charts)


STACK = {"packages": {"Django": "5.2.19"}, "stack_2016": {"Python": "3.11.7", "Django": "1.10.1"}}
MACHINE = {"memory_mb": 24000, "governor": None, "sysctl": {"net.ipv4.tcp_tw_reuse": "2"}, "cores": [0, 1]}


@pytest.mark.parametrize(
    ("record", "says"),
    [
        ({}, ["WORKERS=1 python -m loadtests run first-look --seed 7", "Django==5.2.19\ngunicorn==27.0.1"]),
        ({"versions": STACK}, ["make setup\nmake stack-2016\n", "Python==3.11.7\nDjango==1.10.1"]),
        ({"machine": MACHINE}, ["memory mb", "24000", "sysctl net.ipv4.tcp_tw_reuse", "0 and 1"]),
        ({"git": Git("0123456789", dirty=True)}, ["git checkout 0123456789", "uncommitted changes"]),
    ],
    ids=["usual", "another stack", "machine", "uncommitted"],
)
def test_page_describes_the_run(page, record, says):
    text = page(record=record)
    assert [words for words in says if words not in text] == []


def test_invalid_trial_comes_last_with_reason(page):
    lost = (("gunicorn", "latency", 1), ("gunicorn", "latency", 2))
    found = page(labels=("gunicorn", "daphne"), blocks=2, lost=lost)
    text = markup.unescape(found)
    assert "the generator was at 97% of its core, at most 85%. Lower the rate & <try> again." in text
    assert "invalid: generator busy" in text
    rows = re.findall(r'<tr data-setup="([^"]+)"', found.partition('id="latency-latency-caption"')[2])
    assert rows[:2] == ["daphne", "gunicorn"]


def test_study_texts_are_escaped(page):
    setups = {"gunicorn": SetupRecord("", "wsgi", "[program:gunicorn]\ncommand = gunicorn <x>")}
    study = {"title": "<script>x</script> & more", "question": "Is 1 < 2?"}
    found = page(study=study, record={"setups": setups}, lost=(("gunicorn", "latency", 1),))
    assert "&lt;script&gt;x&lt;/script&gt; &amp; more" in found
    assert "<script" not in found
    titles = re.findall(r"<details><summary>(.*?)</summary>", found)
    folded = ["Machine (9)", "Flagged trials (2)", "Packages", "Node packages", "supervisor/conf.d/gunicorn.conf"]
    assert titles == folded
    assert "command = gunicorn &lt;x&gt;" in found
