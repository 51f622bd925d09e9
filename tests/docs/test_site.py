"""Test that the built documentation covers the code, and contains the committed runs and their files."""

import json
import re

import pytest
from docutils.nodes import make_id

from loadtests import setups
from loadtests.files import ROOT
from loadtests.plan import study as studies
from loadtests.trials.reasons import Reason

pytestmark = [pytest.mark.slow, pytest.mark.exhaustive, pytest.mark.timeout(900)]  # the first test builds the pages


@pytest.fixture
def page(site):
    """Return a function that returns the text of a page."""
    return lambda name: (site / f"{name}.html").read_text(encoding="utf-8")


def test_commands_setups_and_studies_are_documented(page, commands):
    of_commands = page("reference/commands")
    options = {option for one in commands.values() for parameter in one.params for option in parameter.opts}
    ids = {f'id="{make_id(f"command-{name}")}"' for name in commands}
    assert [text for text in ids | options if text not in of_commands] == []
    for found, names in {
        page("setups"): [f'id="{make_id(f"setup-{name}")}"' for name in setups.known()],
        page("reference/studies"): [f'id="study-{name}"' for name in studies.names()],
        page("methodology"): [reason.name for reason in Reason],
    }.items():
        assert [name for name in names if name not in found] == []


def test_committed_run_has_page_and_report(site, page):
    listed = page("results/index")
    for file in ROOT.glob("results/reference-*/run.json"):
        study = json.loads(file.read_text(encoding="utf-8"))["study"]["name"]
        assert f'href="{study}.html"' in listed
        assert f'href="{file.parent.name}/index.html"' in page(f"results/{study}")
        assert (site / "results" / file.parent.name / "index.html").is_file()
        assert (site / "results" / file.parent.name / "report.html").is_file()
    assert re.search(r"Throughput with \d+ connections", listed)  # each study has a line
    assert "requests/s" in listed


def test_links_of_studies_have_files(site):
    for found in site.glob("results/*.html"):
        text = found.read_text(encoding="utf-8")
        for target in re.findall(r'(?:href|src)="(?!https?:|data:|#)([^"#?]+)', text):
            assert (found.parent / target).exists(), f"{found.name}: {target}"
