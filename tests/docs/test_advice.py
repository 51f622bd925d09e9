"""What to choose: no figure by hand, each claim held to a run, and short enough to be read."""

import re

import advice
import pytest
from reference_runs import References

from loadtests.files import ROOT

FINDINGS = list((ROOT / "docs/findings").iterdir())


@pytest.fixture
def sentences():
    """What the advice and the ten findings say, and what is made of studies."""
    texts = [text for row in advice.rows() for text in (row.use, row.avoid, row.effect, row.text, row.finding)]
    files = [ROOT / "docs/choosing.rst", ROOT / "docs/talk.rst", *FINDINGS]
    return " ".join([*texts, *(file.read_text(encoding="utf-8") for file in files)])


def test_no_figure_is_typed_by_hand_and_each_ratio_is_held_to_what_is_claimed(sentences):
    typed = re.sub(r":\w+:`[^`]*`", "", sentences)
    units = r"\s*(?:%(?! interval)|x\b|×|ms\b|s\b|MB\b|times\b|rps\b|requests\b|percent\b)"
    assert re.findall(rf"×\s*\d[\d.,]*|\d[\d.,]*{units}", typed) == []
    ratios = re.findall(r":ratio:`([^`]*)`", sentences)
    assert ratios
    assert [one for one in ratios if not re.search(r" is \w+$", " ".join(one.split()))] == []


def test_it_has_fourteen_rows_at_most_with_a_figure_and_three_lines_each():
    rows = advice.rows()
    assert 0 < len(rows) <= 14
    for row in rows:
        assert advice.ROLE.search(row.effect), row.name
        shown = advice.ROLE.sub("×0.35 (×0.30 to ×0.42)", " ".join(row.text.split()))
        assert len(shown) <= 320, row.name


def test_findings_are_of_studies_that_have_a_run_and_more_than_three_figures_are_a_table():
    runs = " ".join(folder.name for folder in ROOT.glob("results/reference-*"))
    for file in FINDINGS:
        assert file.stem in runs
        text = re.sub(r"\.\. list-table::\n(?: .*\n|\n(?= ))+", "", file.read_text(encoding="utf-8"))
        for part in re.split(r"^- |\n\n", text, flags=re.MULTILINE):
            assert len(re.findall(r":(?!doc|ref)[a-z]+:`", part)) <= 3, f"{file.name}: {part}"


def test_a_row_has_a_chart_of_its_bars(tmp_path, monkeypatch):
    for run in ROOT.glob("results/reference-*-first-look"):
        (tmp_path / run.name).symlink_to(run)
    monkeypatch.setattr(advice, "REFERENCES", References(tmp_path))
    row = next(row for row in advice.rows() if row.evidence == ("first-look",))
    svg, words = advice.chart(row)
    assert all(name in svg for name in (*row.panels[0].setups.values(), row.finding, "ASGI over a channel layer"))
    assert f"{row.panels[0].setups['daphne']} " in words
    assert "var(--color-foreground-primary)" in advice.inlined(row).astext()
    with pytest.raises(LookupError, match="no 'nonsense'; there are gunicorn, "):
        list(advice._bars(advice.Panel("first-look throughput", {"nonsense": "Nonsense"})))
