"""A study's results over time."""

import dataclasses
import io
import xml.etree.ElementTree as ET

import pytest
from rich.console import Console

from loadtests.analyse.history import history_of
from loadtests.errors import UserError
from loadtests.report.formats import history as history_output
from loadtests.report.formats.history import spec
from tests.fixtures.changes import slowed
from tests.fixtures.runs import known_test

LABELS = ("gunicorn", "uvicorn")
STEADY = (1.0, 1.01, 0.99, 1.0, 1.01)


@pytest.fixture
def days(build_run):
    """Writes a run for each factor by which uvicorn is slower that day, all being slower by those of the days in
    ``whole``, ``record`` being fields of those
    after the steady ones."""

    def build(*factors, record=None, whole=None, fails=None, **options):
        for day, of_uvicorn in enumerate(factors, start=1):
            of_all = (whole or {}).get(day, 1.0)

            slower = slowed({"gunicorn": of_all, "gunicorn-again": of_all, "uvicorn": of_all * of_uvicorn}, rate=True)

            def change(label, test, block, result, day=day, slower=slower):
                if fails and label == fails[0] and day > len(STEADY):
                    result = fails[1](label, test, block, result)
                return slower(label, test, block, result)

            last = (record or {}) if day > len(STEADY) else {}
            name, created = f"2026-11-{day:02d}-first-look", f"2026-11-{day:02d}T07:30:00+00:00"
            run = build_run(
                labels=LABELS, blocks=6, name=name, change=change, record={"created": created, **last}, **options
            )
        return run.path.parent

    return build


def printed(found):
    text = io.StringIO()
    history_output.print_history(found, ["history.svg"], Console(file=text))
    return text.getvalue()


def test_a_change_is_marked_at_its_first_run_with_what_else_changed(days):
    versions = {"python": "CPython 3.11.2", "gil": True, "packages": {"Django": "5.2.19", "uvicorn": "0.55.0"}}
    found = history_of("first-look", days(*STEADY, 1.3, 1.3, record={"versions": versions}))
    assert list(found.runs) == [f"2026-11-{day:02d}-first-look" for day in range(1, 8)]
    marked = {(one.series.label, one.series.metric): one for one in found.changes}
    assert set(marked) == {("uvicorn", "p50_ms"), ("uvicorn", "p99_ms"), ("uvicorn", "rps")}
    one = marked["uvicorn", "p50_ms"]
    assert (one.before, one.mark.point.run) == ("2026-11-05-first-look", "2026-11-06-first-look")
    assert one.mark.change == pytest.approx(1.3, rel=0.02)
    assert ("package", "uvicorn", None, "0.55.0") in [
        (what.kind, what.what, what.before, what.after) for what in one.differences
    ]
    text = printed(found)
    assert one.series.against == "gunicorn"
    assert "gunicorn   ×1.30  worse" in text
    assert "What else changed from 2026-11-05-first-look to 2026-11-06-first-look:" in text
    assert "0.55.0" in text


def test_what_nothing_explains_is_said(days):
    assert "Nothing in the records." in printed(history_of("first-look", days(*STEADY, 0.5, 0.5)))


def test_what_changes_for_the_whole_machine_changes_only_the_baseline(days):
    found = history_of("first-look", days(*STEADY, 1.0, 1.0, 1.01, whole=dict.fromkeys((6, 7, 8), 1.5)))
    assert {one.series.label for one in found.changes} == {"gunicorn"}
    assert {one.series.against for one in found.changes} == {""}
    assert "itself" in printed(found)


def test_where_the_baseline_failed_nothing_is_judged_by_it(days):
    def fail(label, test, block, result):
        half = result.planned // 2
        return dataclasses.replace(result, ok=half, completed=half, errors={"timeout": result.planned - half})

    found = history_of("first-look", days(*STEADY, 1.3, 1.3, fails=("gunicorn", fail)))
    assert found.changes == []


def test_fewer_than_seven_runs_mark_nothing_and_that_is_said(days):
    found = history_of("first-look", days(*STEADY, 3.0))
    assert found.changes == []
    said = "No change is marked: that takes 7 runs."
    assert said in printed(found)
    assert said in str(spec(found)["title"])


def test_noise_is_not_marked(days):
    found = history_of("first-look", days(*STEADY, 1.01, 1.0, aa=True))
    assert found.changes == []
    assert "No significant change." in printed(found)
    assert {series.label for series in found.series} == set(LABELS)  # the twin says nothing of its own


def test_runs_of_other_machines_and_studies_are_left_out(days, build_run):
    folder = days(1.0, 1.0)
    study = {"name": "another"}
    build_run(labels=LABELS, name="other-study", study=study)
    machine = {"cpu": "Another CPU", "cores": 64, "memory_mb": 1}
    record = {"created": "2026-10-01T00:00:00+00:00", "machine": machine}
    build_run(labels=LABELS, name="other-machine", record=record)
    (folder / "broken").mkdir()
    (folder / "broken" / "run.json").write_text("{}")
    found = history_of("first-look", folder)
    assert len(found.runs) == 2
    assert "1 run on other machines" in found.left_out
    assert any("schema None" in sentence for sentence in found.left_out)
    with pytest.raises(UserError, match=r"another has one run on this machine \(.* left out\); a history needs two"):
        history_of("another", folder)


def test_a_kernel_and_a_little_memory_do_not_make_another_machine(days, build_run):
    folder = days(1.0)
    first = build_run(labels=LABELS, name="template")
    machine = {**first.record.machine, "kernel": "Linux 7.0", "memory_mb": 23900, "mhz": 1.0}
    build_run(labels=LABELS, name="newer", record={"created": "2026-12-01T00:00:00+00:00", "machine": machine})
    assert "newer" in history_of("first-look", folder).runs


def test_a_test_that_asks_something_else_begins_a_new_series(days, build_run):
    folder = days(1.0, 1.0)
    build_run(labels=LABELS, name="third", record={"created": "2026-11-03T00:00:00+00:00"})
    tests = (known_test("latency").at_rate(500.0), "throughput")
    build_run(labels=LABELS, blocks=6, name="newest", tests=tests, record={"created": "2026-12-01T00:00:00+00:00"})
    lengths = {(series.label, series.metric): len(series.marks) for series in history_of("first-look", folder).series}
    assert lengths["gunicorn", "p50_ms"] == 1
    assert lengths["gunicorn", "rps"] == 4


def test_a_study_without_a_run_is_answered_with_those_that_have_some(days, tmp_path):
    with pytest.raises(UserError, match=r"there is no run of a study '2016' in .*; there are runs of: none"):
        history_of("2016", tmp_path)
    there = days(1.0, 1.0)
    with pytest.raises(UserError, match="there are runs of: first-look"):
        history_of("2016", there)
    with pytest.raises(UserError, match=r"a study 'first-loook' in .*; did you mean first-look\?"):
        history_of("first-loook", there)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.chart", "a.chart.svg"])
def test_the_chart_is_written_as_svg(days, tmp_path, name):
    found = history_of("first-look", days(*STEADY, 1.4, 1.4))
    file = history_output.write(found, tmp_path / "charts" / name)
    assert file.name == "a.chart.svg"
    texts = [element.text for element in ET.parse(file).iter() if element.text]
    for text in ("latency: p50 response time, ms", "throughput: requests per second", "2026-11-06", "uvicorn", "×1.40"):
        assert text in texts


def test_a_mark_says_what_it_is_to_those_who_cannot_see_it(days):
    rows = spec(history_of("first-look", days(*STEADY, 1.4, 1.4)))["datasets"]
    assert any("uvicorn: 2026-11-06-first-look" in row["text"] and "changed ×1.40" in row["text"]
               for part in rows.values() for row in part)  # fmt: skip


def test_several_runs_of_a_day_are_distinguished_by_their_time(days, build_run):
    folder = days(1.0)
    build_run(labels=LABELS, name="later", record={"created": "2026-11-01T19:45:00+00:00"})
    assert '"2026-11-01 19:45"' in str(spec(history_of("first-look", folder))).replace("'", '"')


def test_two_runs_of_one_block_have_no_whiskers_and_no_marks(days, build_run, tmp_path):
    for name, times in (("one", 1.0), ("two", 3.0)):
        build_run(labels=LABELS, blocks=1, name=name, record={"created": f"2026-11-0{int(times)}T00:00:00+00:00"})
    found = history_of("first-look", tmp_path)
    assert found.changes == []
    assert history_output.write(found, tmp_path / "chart").is_file()
