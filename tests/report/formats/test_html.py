"""Test the HTML page, which must be a single, complete and accessible file."""

import re
from html.parser import HTMLParser

import pytest

from loadtests.records.run.run_record import Git, SetupRecord
from loadtests.report.formats import render
from loadtests.report.formats.html import html
from tests.fixtures.changes import slowed
from tests.fixtures.pages import chart, page_of

VOID = {"meta", "link", "br", "img", "hr", "input"}
BLANK = '<svg xmlns="http://www.w3.org/2000/svg"/>'


class Document(HTMLParser):
    """Collect the page's elements with their attributes and text, and check that each element is closed."""

    def __init__(self, text):
        super().__init__()
        self.source, self.elements, self.open, self.text = text, [], [], ""
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


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
    return Document(html(content, {chart.name: draw(chart) for chart in content.charts}))


def test_page_needs_no_external_files(usual):
    assert [a for _, a in usual.elements if "src" in a or "srcset" in a or "data" in a] == []
    assert usual.all("link") == []
    assert set(re.findall(r"https?://[^\s\"'<)]+", usual.source)) <= {"http://www.w3.org/2000/svg"}
    assert re.findall(r"@import|url\((?!#)", usual.source) == []
    policy = next(a["content"] for a in usual.all("meta") if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'")
    assert len(usual.source.encode()) < 400_000


def test_verdicts_are_grouped_by_metric(usual):
    sections = [attributes["id"] for attributes in usual.all("section") if "id" in attributes]
    assert " ".join(sections) == "verdicts latency throughput capacity cost every compared invalid repeat"
    for name in ("verdicts", "latency", "throughput", "capacity", "cost"):
        section = usual.source.partition(f'<section id="{name}"')[2].partition("</section>")[0]
        assert 0 < section.rindex("<figure") < section.index("<table"), name
    table = usual.source.partition('id="verdicts-latency-caption"')[2].partition("</table>")[0]
    groups = ["p50 response time", "p99 response time", "CPU per request"]
    assert re.findall(r'scope="rowgroup" colspan="5">([^<]+)', table) == groups
    assert table.count("<tbody>") == table.count("</tbody>") == 3
    assert table.count("p50 response time") == 2  # in the caption's note on the noise floor, and above the group


def test_page_works_without_sight_or_mouse(usual):
    assert len(usual.all("caption")) == len(usual.all("table")) > 5
    assert {attributes.get("scope") for attributes in usual.all("th")} == {"col", "row", "rowgroup"}
    for attributes in (one for one in usual.all("div") if one.get("class") == "scroll"):
        assert (attributes["tabindex"], attributes["role"]) == ("0", "region")
        assert attributes.get("aria-label") or attributes.get("aria-labelledby")
    ids = [attributes["id"] for _, attributes in usual.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {attributes["href"] for attributes in usual.all("a")} <= {f"#{one}" for one in ids}
    charts = {one["aria-label"] for one in usual.all("svg")}
    # gunicorn's p50 in block 1 is 2 ms × 1.01, without jitter
    assert any("gunicorn 2.02" in said.partition("p50: ")[2].partition(";")[0] for said in charts)
    assert len(charts) == len(usual.all("figure")) == 10


def test_page_shows_command_to_repeat(usual):
    assert "python -m loadtests run first-look --seed 7" in usual.text
    assert "git checkout 0123456789abcdef0123456789abcdef01234567" in usual.text
    assert "WORKERS=1 python -m loadtests run" in usual.text
    assert "Django==5.2.19\ngunicorn==27.0.1" in usual.text


STACK = {"packages": {"Django": "5.2.19"}, "stack_2016": {"Python": "3.11.7", "Django": "1.10.1"}}
MACHINE = {"memory_mb": 24000, "governor": None, "sysctl": {"net.ipv4.tcp_tw_reuse": "2"}, "cores": [0, 1]}


@pytest.mark.parametrize(
    ("record", "says"),
    [
        ({"command": "python -m loadtests run first-look", "knobs": {}, "seed": 99}, ["run first-look --seed 99"]),
        ({"versions": STACK}, ["make setup\nmake stack-2016\n", "Python==3.11.7\nDjango==1.10.1"]),
        ({"machine": MACHINE}, ["memory mb", "24000", "sysctl net.ipv4.tcp_tw_reuse", "0 and 1"]),
        ({"git": Git("0123456789", dirty=True)}, ["uncommitted changes"]),
        ({"git": Git(None, dirty=None)}, ["The revision is not known."]),
    ],
    ids=["no seed", "another stack", "machine", "uncommitted", "no revision"],
)
def test_page_describes_the_run(page, record, says):
    text = page(record=record).text
    assert [words for words in says if words not in text] == []


def test_invalid_trial_comes_last_with_reason(page):
    lost = (("gunicorn", "latency", 1), ("gunicorn", "latency", 2))
    found = page(labels=("gunicorn", "daphne"), blocks=2, lost=lost)
    assert "the generator was at 97% of its core, at most 85%. Lower the rate & <try> again." in found.text
    assert "invalid: generator busy" in found.text
    assert "2,0" not in found.text.split("Latency", 1)[1].split("Throughput", 1)[0]  # 2.0 ms times 1,000
    rows = re.findall(r'<tr data-setup="([^"]+)"', found.source.partition('id="latency-latency-caption"')[2])
    assert rows[:2] == ["daphne", "gunicorn"]


def test_study_texts_are_escaped(page):
    setups = {"gunicorn": SetupRecord("", "wsgi", "[program:gunicorn]\ncommand = gunicorn <x>")}
    study = {"title": "<script>x</script> & more", "question": "Is 1 < 2?"}
    found = page(study=study, record={"setups": setups}, lost=(("gunicorn", "latency", 1),))
    assert "<script>x</script> & more" in found.text
    assert found.all("script") == []
    titles = re.findall(r"<details><summary>(.*?)</summary>", found.source)
    folded = ["Machine (9)", "Flagged trials (2)", "Packages", "Node packages", "supervisor/conf.d/gunicorn.conf"]
    assert titles == folded
    assert "command = gunicorn <x>" in found.text


def test_difference_inside_noise_is_grey(page):
    alike = slowed({"gunicorn-again": 1.1, "uvicorn": 1.1 / 1.5})
    found = page(labels=("gunicorn", "uvicorn"), tests=("latency",), blocks=10, aa=True, change=alike)
    p50 = found.source.partition('scope="rowgroup" colspan="5">p50 response time')[2].split("<tr")[1]
    assert "within the noise" in p50
    assert 'data-tone="muted">5% higher response time' in p50
    assert "bad" not in p50


def test_many_leaders_are_summarized(page):
    labels = tuple(f"s{number}" for number in range(8))
    alike = slowed(lambda label, test, block: (10 if label == "s7" else 1) / (2 + 0.5 * labels.index(label)))
    assert "all but s7" in page(labels=labels, tests=("latency",), blocks=10, change=alike).text


def test_throughput_panels_have_few_lines(build_run):
    spec = chart(build_run(labels=tuple(f"setup-{number}" for number in range(20)), blocks=1), "over-time").spec
    drawn = [spec["datasets"][panel["layer"][1]["data"]["name"]] for panel in spec["vconcat"]]
    named = [{row["label"] for row in rows} for rows in drawn]
    assert [len(labels) for labels in named] == [7, 7, 6]
    assert len(set.union(*named)) == 20
