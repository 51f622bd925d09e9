"""The pages of the committed runs, and the figures that other pages take from them."""

from __future__ import annotations

import dataclasses
import importlib
import json
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from sphinx.errors import ExtensionError

from loadtests.analyse.results import Results

FIRST_LOOK = "reference-2026-11-25-first-look"


@pytest.fixture(scope="module")
def extension(root: Path) -> Callable[[str], ModuleType]:
    """Gives a module of docs/_ext."""
    folder = str(root / "docs/_ext")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module


@pytest.fixture
def results(root: Path, tmp_path: Path) -> Path:
    """A folder of results with a copy of one committed run."""
    shutil.copytree(root / "results" / FIRST_LOOK, tmp_path / "results" / FIRST_LOOK)
    return tmp_path / "results"


@pytest.fixture(scope="module")
def first_look(extension: Callable[[str], ModuleType], root: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The reference runs of one study alone: to read all of them takes long."""
    folder = tmp_path_factory.mktemp("results")
    for run in root.glob("results/reference-*-first-look"):
        (folder / run.name).symlink_to(run)
    return extension("reference_runs").References(folder)


@pytest.fixture
def roles(extension: Callable[[str], ModuleType], first_look: Any, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The roles by name, where these runs are all there are."""
    module = extension("measured_roles")
    monkeypatch.setattr(module, "REFERENCES", first_look)
    return module.ROLES


def change(run: Path, **values: Any) -> None:
    """Changes keys of a run.json; None takes a key out."""
    record = {**json.loads((run / "run.json").read_text(encoding="utf-8")), **values}
    kept = {key: value for key, value in record.items() if key not in values or value is not None}
    (run / "run.json").write_text(json.dumps(kept), encoding="utf-8")


def test_the_newest_run_of_a_study_comes_first(extension: Callable[[str], ModuleType], results: Path) -> None:
    later = shutil.copytree(results / FIRST_LOOK, results / "reference-2026-12-24-first-look")
    change(later, created="2026-12-24T09:00:00+00:00")
    references = extension("reference_runs").References(results)
    assert [run.date for run in references.studies["first-look"]] == ["2026-12-24", "2026-11-25"]
    page = extension("from_results").study_page(references.studies["first-look"])
    assert "the newest of 2 reference runs of this study, of 2026-12-24" in page
    assert "figure:: reference-2026-12-24-first-look/charts/verdicts-throughput.svg" in page
    assert page.index("2026-12-24 <reference") < page.index("2026-11-25 <reference")


def test_a_study_on_another_database_is_one_of_its_own(extension: Callable[[str], ModuleType], results: Path) -> None:
    other = shutil.copytree(results / FIRST_LOOK, results / "reference-2026-12-24-first-look-postgresql")
    change(other, created="2026-12-24T09:00:00+00:00", database="postgresql:///bench")
    references = extension("reference_runs").References(results)
    assert list(references.studies) == ["first-look", "first-look-postgresql"]
    [run] = references.studies["first-look-postgresql"]
    assert run.machine.endswith(", PostgreSQL")
    page = extension("from_results").study_page([run])
    assert f"the only reference run of this study, of 2026-12-24 on {run.machine}" in page


def test_the_load_test_of_2016_stands_next_to_its_repetition(
    extension: Callable[[str], ModuleType], build_run: Callable[..., Any]
) -> None:
    repetition = extension("repetition")
    labels = ("2016-gunicorn", "2016-daphne-ipc")
    tests = ("latency-as-then", "latency", "throughput-as-then", "throughput")

    def decaying(label: str, test: str, block: int, result: Any) -> Any:
        """Ten requests answered in the first second, nine in the next, and so on; half of those at a rate fail."""
        seconds = [dataclasses.replace(one, ok=10 - int(one.t)) for one in result.timeline]
        half = {"ok": result.planned // 2, "errors": {"status": result.planned // 2}}
        return dataclasses.replace(result, timeline=tuple(seconds), **(half if test == "latency" else {}))

    lost = (("2016-daphne-ipc", "throughput", 1), ("2016-daphne-ipc", "throughput", 2))
    run = build_run(labels=labels, tests=tests, lost=lost, change=decaying, study={"name": repetition.STUDY})
    rows = {(name.split("`")[1].split()[0], figure): rest for name, figure, *rest in repetition.rows(Results(run))}
    assert [setup for setup, _ in rows] == ["2016-gunicorn"] * 6 + ["2016-daphne-ipc"] * 6
    then, tool, _ = rows["2016-gunicorn", "p50 at 300 requests/s"]
    assert (then, tool.endswith(" ms")) == ("2 ms", True)
    assert rows["2016-gunicorn", "p90 at 300 requests/s"][2] == "not reached"
    assert rows["2016-gunicorn", "of these requests failed"] == ["not reported", "none", "50%"]
    assert rows["2016-gunicorn", "Requests per 5 s, first and last"][1:] == ["40, then 15", "40, then 15"]
    assert rows["2016-daphne-ipc", "Requests per 5 s, first and last"][1:] == ["40, then 15", "\u2013"]
    assert len(list(repetition.table(Results(run)))) == 4 + 5 * 13


def no_run_json(run: Path) -> None:
    (run / "run.json").unlink()


def cut_off(run: Path) -> None:
    (run / "run.json").write_text('{"schema": 1, "study": {', encoding="utf-8")


def not_ended(run: Path) -> None:
    change(run, ended=None)


def no_trials(run: Path) -> None:
    shutil.rmtree(run / "trials")


def half_a_trial(run: Path) -> None:
    file = next((run / "trials").iterdir())
    file.write_text(file.read_text(encoding="utf-8")[:1000], encoding="utf-8")


def no_chart(run: Path) -> None:
    (run / "charts/verdicts-throughput.svg").unlink()


def no_summary(run: Path) -> None:
    (run / "summary.csv").unlink()


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (no_run_json, "has neither run.json nor, as a profile, profile.json and index.rst"),
        (cut_off, "is not a whole run: .*run.json cannot be read"),
        (not_ended, "is not a finished run. Go on with `python -m loadtests run --resume results/reference-"),
        (no_trials, "has no valid trial"),
        (half_a_trial, "is not a whole run: .*/trials/.* cannot be read"),
        (
            no_chart,
            "lacks charts/verdicts-throughput.svg. Write them with `python -m loadtests report --rebuild",
        ),
        (no_summary, "lacks summary.csv. Write them with"),
    ],
)
def test_a_run_that_is_not_whole_is_an_error_that_says_what_to_do(
    extension: Callable[[str], ModuleType], results: Path, broken: Callable[[Path], None], said: str
) -> None:
    broken(results / FIRST_LOOK)
    with pytest.raises(ExtensionError, match=rf"results/{FIRST_LOOK} {said}"):
        print(extension("reference_runs").References(results).studies)


def test_a_figure_of_a_run_is_what_its_summary_says(roles: dict[str, Any], root: Path) -> None:
    found, page = roles["measured"].found("first-look gunicorn throughput")
    newest = max(root.glob("results/reference-*-first-look"))
    lines = (newest / "summary.csv").read_text(encoding="utf-8").splitlines()
    row = next(line.split(",") for line in lines if line.startswith("gunicorn,gunicorn,throughput"))
    rps = float(row[lines[0].split(",").index("rps")])
    assert found.startswith(f"{rps:,.0f} requests/s (")
    assert page == "first-look"


@pytest.mark.parametrize(
    ("role", "asked", "said"),
    [
        ("ratio", "first-look daphne-redis throughput is faster", "says slower, ×.*: write the sentence anew"),
        (
            "ratio",
            "nonsense daphne throughput",
            "no reference run of a study 'nonsense'; of these there are: .*first-look",
        ),
        ("ratio", "first-look nonsense throughput", "no label 'nonsense'; it has gunicorn, "),
        ("ratio", "first-look daphne nonsense", "no test 'nonsense'; it has latency"),
        ("measured", "first-look daphne latency nonsense", "no metric 'nonsense'; there are p50"),
        ("measured", "first-look daphne latency capacity", "no valid trial knows capacity_rps"),
        ("ratio", "first-look", "not understood"),
        ("share", "nonsense web: thread hops", "no reference profile of nonsense"),
    ],
)
def test_a_figure_that_cannot_be_had_is_reported(roles: dict[str, Any], role: str, asked: str, said: str) -> None:
    with pytest.raises(LookupError, match=said):
        roles[role].found(asked)


def test_a_share_is_that_of_the_newest_profile_of_the_setup(
    extension: Callable[[str], ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = extension("reference_runs")
    for day, share in (("21", 0.3), ("22", 0.4)):
        folder = tmp_path / f"reference-2026-11-{day}-profile-uvicorn"
        folder.mkdir()
        (folder / "index.rst").write_text("Uvicorn\n=======\n", encoding="utf-8")
        shares = [{"category": "thread hops", "share": share, "low": share - 0.02, "high": share + 0.02}]
        about = {
            "setup": "uvicorn",
            "path": "/",
            "created": f"2026-11-{day}",
            "roles": [{"role": "web", "shares": shares}],
        }
        (folder / "profile.json").write_text(json.dumps(about), encoding="utf-8")
    monkeypatch.setattr(module, "REFERENCES", module.References(tmp_path))
    share = extension("measured_roles").ROLES["share"]
    expected = ("40% (38% to 42%)", "reference-2026-11-22-profile-uvicorn/index")
    assert share.found("uvicorn web: thread hops") == share.found("uvicorn web at /: thread hops") == expected
    with pytest.raises(LookupError, match="has no 'view' there; it has thread hops"):
        share.found("uvicorn web: view")


def test_the_readme_quotes_the_newest_run(extension: Callable[[str], ModuleType], first_look: Any, root: Path) -> None:
    readme = (root / "README.md").read_text(encoding="utf-8")
    quoted = extension("readme").quoting(readme, first_look)
    assert "\ngunicorn " in quoted.partition("<!-- answer of first-look -->")[2]
    assert readme == quoted, "write it anew: PYTHONPATH=. .venv/bin/python docs/_ext/readme.py"


def test_the_readme_is_short(root: Path) -> None:
    lines = (root / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 90
    rows = [line.split(" | ") for line in lines if line.startswith("| [")]
    assert len(rows) == 12
    shown = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", cell) for row in rows for cell in row]
    assert [cell for cell in shown if len(cell) > 150] == []


def test_the_readme_quotes_no_run_that_is_not_there(extension: Callable[[str], ModuleType], first_look: Any) -> None:
    with pytest.raises(LookupError, match="no reference run of a study 'nonsense'"):
        extension("readme").quoting("<!-- answer of nonsense -->\n```text\n```\n", first_look)


@pytest.fixture
def advice(extension: Callable[[str], ModuleType], root: Path) -> str:
    """What the advice and the ten findings say, and what is made of studies."""
    rows = extension("advice").rows()
    texts = [text for row in rows for text in (row.use, row.avoid, row.effect, row.text, row.finding)]
    files = [root / "docs/choosing.rst", root / "docs/talk.rst", *(root / "docs/findings").iterdir()]
    return " ".join([*texts, *(file.read_text(encoding="utf-8") for file in files)])


def test_no_figure_of_the_advice_is_typed_by_hand(advice: str) -> None:
    typed = re.sub(r":\w+:`[^`]*`", "", advice)
    units = r"\s*(?:%(?! interval)|x\b|×|ms\b|s\b|MB\b|times\b|rps\b|requests\b|percent\b)"
    assert re.findall(rf"×\s*\d[\d.,]*|\d[\d.,]*{units}", typed) == []


def test_each_ratio_of_the_advice_is_held_to_what_is_claimed(advice: str) -> None:
    ratios = re.findall(r":ratio:`([^`]*)`", advice)
    assert ratios
    assert [one for one in ratios if not re.search(r" is \w+$", " ".join(one.split()))] == []


def test_the_advice_has_fourteen_rows_at_most_with_a_figure_and_three_lines_each(
    extension: Callable[[str], ModuleType],
) -> None:
    module = extension("advice")
    rows = module.rows()
    assert 0 < len(rows) <= 14
    for row in rows:
        assert module.ROLE.search(row.effect), row.name
        shown = module.ROLE.sub("×0.35 (×0.30 to ×0.42)", " ".join(row.text.split()))
        assert len(shown) <= 320, row.name


def test_findings_are_of_studies_that_have_a_run(root: Path) -> None:
    runs = " ".join(folder.name for folder in root.glob("results/reference-*"))
    assert [file.stem for file in (root / "docs/findings").iterdir() if file.stem not in runs] == []


def test_more_than_three_figures_of_a_finding_are_a_table(root: Path) -> None:
    for file in (root / "docs/findings").iterdir():
        text = re.sub(r"\.\. list-table::\n(?: .*\n|\n(?= ))+", "", file.read_text(encoding="utf-8"))
        for said in re.split(r"^- |\n\n", text, flags=re.MULTILINE):
            assert len(re.findall(r":(?!doc|ref)[a-z]+:`", said)) <= 3, f"{file.name}: {said}"


def test_a_row_of_the_advice_has_a_chart_of_its_bars(
    extension: Callable[[str], ModuleType], first_look: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = extension("advice")
    monkeypatch.setattr(module, "REFERENCES", first_look)
    row = next(row for row in module.rows() if row.evidence == ("first-look",))
    svg, words = module.chart(row)
    assert all(name in svg for name in (*row.panels[0].setups.values(), row.finding, "ASGI over a channel layer"))
    assert f"{row.panels[0].setups['daphne']} " in words
    assert "var(--color-foreground-primary)" in module.inlined(row).astext()
    with pytest.raises(LookupError, match="no 'nonsense'; there are gunicorn, "):
        list(module._bars(module.Panel("first-look throughput", {"nonsense": "Nonsense"})))
