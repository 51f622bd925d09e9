"""Test the pages of committed runs, and the figures and advice that other pages derive from these runs."""

import dataclasses
import json
import re
import shutil

import advice
import evidence
import from_results
import lost_deliveries
import measured_roles
import pytest
import readme
import reference_runs
import repetition
from reference_runs import References
from sphinx.errors import ExtensionError

from loadtests.analyse.results import Results
from loadtests.files import ROOT

FIRST_LOOK = "reference-2026-11-26-first-look"
LATER = "2026-12-24T09:00:00+00:00"


@pytest.fixture
def results(tmp_path):
    """Return a results folder that contains a copy of one committed run."""
    shutil.copytree(ROOT / "results" / FIRST_LOOK, tmp_path / "results" / FIRST_LOOK)
    return tmp_path / "results"


@pytest.fixture(scope="module")
def first_look(tmp_path_factory):
    """Return the committed runs of a single study, because reading all runs takes a long time."""
    folder = tmp_path_factory.mktemp("results")
    for run in ROOT.glob("results/reference-*-first-look"):
        (folder / run.name).symlink_to(run)
    return References(folder)


@pytest.fixture
def roles(first_look, monkeypatch):
    """Return the documentation's roles by name. The roles only use the runs of ``first_look``."""
    monkeypatch.setattr(measured_roles, "REFERENCES", first_look)
    return measured_roles.ROLES


def change(run, **values):
    """Change keys in run.json. The value None removes a key."""
    record = {**json.loads((run / "run.json").read_text(encoding="utf-8")), **values}
    kept = {key: value for key, value in record.items() if key not in values or value is not None}
    (run / "run.json").write_text(json.dumps(kept), encoding="utf-8")


def test_newest_run_comes_first(results):
    later = shutil.copytree(results / FIRST_LOOK, results / "reference-2026-12-24-first-look")
    change(later, created=LATER)
    runs = References(results).studies["first-look"]
    assert [run.date for run in runs] == ["2026-12-24", "2026-11-26"]
    page = from_results.study_page(runs)
    assert "the newest of 2 reference runs of this study, from 2026-12-24" in page
    assert "figure:: reference-2026-12-24-first-look/charts/verdicts-throughput.svg" in page
    assert page.index("2026-12-24 <reference") < page.index("2026-11-26 <reference")


def test_repetition_table_shows_results_of_2016(build_run):
    labels = ("2016-gunicorn", "2016-daphne-ipc")
    tests = ("latency-as-then", "latency", "throughput-as-then", "throughput")

    def decaying(label, test, block, result):
        """Let the answers per second decrease from ten. In the test latency, half of the requests fail."""
        seconds = [dataclasses.replace(one, ok=10 - int(one.t)) for one in result.timeline]
        half = {"ok": result.planned // 2, "errors": {"status": result.planned // 2}}
        return dataclasses.replace(result, timeline=tuple(seconds), **(half if test == "latency" else {}))

    lost = (("2016-daphne-ipc", "throughput", 1), ("2016-daphne-ipc", "throughput", 2))
    run = build_run(labels=labels, tests=tests, lost=lost, change=decaying, study={"name": repetition.STUDY})
    rows = {(name.split("`")[1].split()[0], figure): rest for name, figure, *rest in repetition.rows(Results(run))}
    assert [setup for setup, _ in rows] == ["2016-gunicorn"] * 6 + ["2016-daphne-ipc"] * 6
    assert rows["2016-gunicorn", "p90 at 300 requests/s"][2] == "not reached"
    assert rows["2016-gunicorn", "Requests per 5 s, first and last"][1:] == ["40, then 15", "40, then 15"]
    assert rows["2016-daphne-ipc", "Requests per 5 s, first and last"][1:] == ["40, then 15", "\u2013"]


def half_a_trial(run):
    file = next((run / "trials").iterdir())
    file.write_text(file.read_text(encoding="utf-8")[:1000], encoding="utf-8")


@pytest.mark.parametrize(
    ("break_run", "said"),
    [
        (lambda run: (run / "run.json").unlink(), "has neither run.json nor, as a profile, profile.json and index.rst"),
        (lambda run: change(run, ended=None), "is not a finished run. Continue it with .* run --resume results/"),
        (half_a_trial, "is not a complete run: .*/trials/.* cannot be read"),
        (lambda run: (run / "charts/verdicts-throughput.svg").unlink(), "lacks charts/verdicts-throughput.svg. Create"),
    ],
    ids=["no run.json", "not ended", "half a trial", "no chart"],
)
def test_incomplete_committed_run_is_refused(results, break_run, said):
    break_run(results / FIRST_LOOK)
    with pytest.raises(ExtensionError, match=rf"results/{FIRST_LOOK} {said}"):
        print([run.page for runs in References(results).studies.values() for run in runs])


def test_value_of_run_matches_summary(roles):
    found, page = roles["measured"].found("first-look gunicorn throughput")
    newest = max(ROOT.glob("results/reference-*-first-look"))
    lines = (newest / "summary.csv").read_text(encoding="utf-8").splitlines()
    row = next(line.split(",") for line in lines if line.startswith("gunicorn,gunicorn,throughput"))
    rps = float(row[lines[0].split(",").index("rps")])
    assert found.startswith(f"{rps:,.0f} requests/s")
    assert page == "first-look"


@pytest.mark.parametrize(
    ("role", "asked", "said"),
    [
        ("ratio", "first-look daphne-redis throughput is faster", "shows slower, ×.*: rewrite the sentence"),
        ("ratio", "nonsense daphne throughput", "no reference run of a study 'nonsense'. Reference runs: .*first-look"),
        ("measured", "first-look daphne latency nonsense", "no metric 'nonsense'. The metrics are p50"),
        ("share", "nonsense web: thread hops", "no reference profile of nonsense"),
    ],
)
def test_missing_value_is_reported(roles, role, asked, said):
    with pytest.raises(LookupError, match=said):
        roles[role].found(asked)


def test_share_comes_from_newest_profile(tmp_path, monkeypatch):
    for day, share in (("21", 0.3), ("22", 0.4)):
        folder = tmp_path / f"reference-2026-11-{day}-profile-uvicorn"
        folder.mkdir()
        (folder / "index.rst").write_text("Uvicorn\n=======\n", encoding="utf-8")
        shares = [{"category": "thread hops", "share": share, "low": share - 0.02, "high": share + 0.02}]
        about = {"setup": "uvicorn", "path": "/", "created": f"2026-11-{day}"}
        about["roles"] = [{"role": "web", "shares": shares}]
        (folder / "profile.json").write_text(json.dumps(about), encoding="utf-8")
    monkeypatch.setattr(reference_runs, "REFERENCES", References(tmp_path))
    share = measured_roles.ROLES["share"]
    expected = ("40% (38% to 42%)", "reference-2026-11-22-profile-uvicorn/index")
    assert share.found("uvicorn web: thread hops") == share.found("uvicorn web at /: thread hops") == expected
    with pytest.raises(LookupError, match=r"no category 'view'. Categories: thread hops"):
        share.found("uvicorn web: view")


def test_readme_quotes_the_newest_run(first_look):
    text = readme.README.read_text(encoding="utf-8")
    quoted = readme.quoting(text, first_look)
    assert "\ngunicorn " in quoted.partition("<!-- answer of first-look -->")[2]
    assert text == quoted, "write it again: PYTHONPATH=. .venv/bin/python docs/_ext/readme.py"
    with pytest.raises(LookupError, match="no reference run of a study 'nonsense'"):
        readme.quoting("<!-- answer of nonsense -->\n```text\n```\n", first_look)


FINDINGS = list((ROOT / "docs/findings").iterdir())


@pytest.fixture
def sentences():
    """Return the text of the advice, the ten findings in the talk, and the findings of each study."""
    texts = [text for row in advice.rows() for text in (row.use, row.avoid, row.effect, row.text, row.finding)]
    files = [ROOT / "docs/choosing.rst", ROOT / "docs/talk.rst", *FINDINGS]
    return " ".join([*texts, *(file.read_text(encoding="utf-8") for file in files)])


def test_figures_are_not_typed_by_hand(sentences):
    typed = re.sub(r":\w+:`[^`]*`", "", sentences)
    units = r"\s*(?:%(?! interval)|x\b|×|ms\b|s\b|MB\b|times\b|rps\b|requests\b|percent\b)"
    assert re.findall(rf"×\s*\d[\d.,]*|\d[\d.,]*{units}", typed) == []
    ratios = re.findall(r":ratio:`([^`]*)`", sentences)
    assert ratios
    assert [one for one in ratios if not re.search(r" is \w+$", " ".join(one.split()))] == []


def test_talk_figures_support_their_claims():
    figures = list(evidence.figures((ROOT / "docs/talk.rst").read_text(encoding="utf-8")))
    assert figures
    assert {request: why for role, request in figures if (why := evidence.unfit(role, request))} == {}


def test_readme_rows_come_from_one_machine():
    table = readme.TABLE.search(readme.README.read_text(encoding="utf-8"))[0]
    named = set(re.findall(r"results/([^/]+)/index.rst", table))
    machines = {json.loads((ROOT / "results" / run / "run.json").read_text())["machine"]["cpu"] for run in named}
    assert len(machines) == 1


def test_shown_advice_is_supported():
    effects = [row.effect for row in advice.rows()]
    groups = evidence.by_machine(effects)
    shown = [effects[place] for machine, places in groups.items() for place in places if machine]
    assert shown
    assert [evidence.problem(effect) for effect in shown] == [None] * len(shown)


@pytest.mark.parametrize(
    ("figures", "why"),
    [
        (
            ":lost:`crowd uvicorn-channels-ipc crowd against uvicorn-channels-redis`",
            "no significant difference in lost deliveries",
        ),
        (":downtime:`reload daphne reload`", "5 are necessary"),
    ],
)
def test_unsupported_figure_is_refused(figures, why):
    assert why in evidence.problem(figures)


def test_baseline_copy_adds_trials_to_baseline():
    results = measured_roles.REFERENCES.newest("crowd")
    found = lost_deliveries.loss_test(results, "uvicorn-channels-redis", "uvicorn-channels-pubsub", "crowd")
    assert found.trials == (2 * results.blocks, results.blocks)


@pytest.mark.parametrize(("losing", "significant"), [((4, 0), True), ((3, 0), False), ((4, 4), False)])
def test_losses_are_compared_by_trial(losing, significant):
    assert lost_deliveries.LossTest(losing, (4, 4)).is_significant is significant


def two_copies(results, **changes):
    other = shutil.copytree(results / FIRST_LOOK, results / "reference-2026-12-24-other")
    record = json.loads((other / "run.json").read_text(encoding="utf-8"))
    change(other, created=LATER, study={**record["study"], "name": "other"}, **changes)
    return References(results)


ONE = ":ratio:`first-look uvicorn throughput against gunicorn-gthread is slower`"
OTHER = ":ratio:`other uvicorn throughput against gunicorn-gthread is slower`"


def test_advice_is_grouped_by_machine(results, monkeypatch):
    references = two_copies(results, machine={"cpu": "Another", "cores": 2})
    for module in (evidence, measured_roles):
        monkeypatch.setattr(module, "REFERENCES", references)
    groups = evidence.by_machine([ONE, OTHER, OTHER, ONE + OTHER])
    assert list(groups) == ["Another, 2 cores", references.studies["first-look"][0].machine, ""]
    assert list(groups.values()) == [[1, 2], [0], [3]]
    assert evidence.problem(ONE + OTHER) == "the figures come from several machines"


def test_findings_belong_to_runs():
    runs = " ".join(folder.name for folder in ROOT.glob("results/reference-*"))
    for file in FINDINGS:
        assert file.stem in runs
        text = re.sub(r"\.\. list-table::\n(?: .*\n|\n(?= ))+", "", file.read_text(encoding="utf-8"))
        for part in re.split(r"^- |\n\n", text, flags=re.MULTILINE):
            assert len(re.findall(r":(?!doc|ref)[a-z]+:`", part)) <= 3, f"{file.name}: {part}"


def test_advice_has_bar_chart(tmp_path, monkeypatch):
    for run in ROOT.glob("results/reference-*-first-look"):
        (tmp_path / run.name).symlink_to(run)
    monkeypatch.setattr(advice, "REFERENCES", References(tmp_path))
    row = next(row for row in advice.rows() if row.evidence == ("first-look",))
    svg, words = advice.chart(row)
    assert all(name in svg for name in (*row.panels[0].setups.values(), row.finding, "ASGI over a channel layer"))
    assert f"{row.panels[0].setups['daphne']} " in words
    assert "var(--color-foreground-primary)" in advice.inlined(row).astext()
    with pytest.raises(LookupError, match="no label 'nonsense'"):
        list(advice._bars(advice.Panel("first-look throughput", {"nonsense": "Nonsense"})))
