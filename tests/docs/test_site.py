"""The documentation as it is built: what the code has is on its pages, what was measured is there with its files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from docutils.nodes import make_id

from loadtests import setups
from loadtests.analyse.reasons import Reason
from loadtests.plan import study as studies

pytestmark = [pytest.mark.slow, pytest.mark.exhaustive, pytest.mark.timeout(400)]  # the build is of the first test


def test_every_command_has_its_section(site: Path, commands: dict[str, Any]) -> None:
    page = (site / "reference/commands.html").read_text(encoding="utf-8")
    for name, command in commands.items():
        assert f'id="{make_id(f"command-{name}")}"' in page
        for parameter in command.params:
            for option in parameter.opts:
                assert option in page


def test_every_setup_has_its_section(site: Path) -> None:
    page = (site / "setups.html").read_text(encoding="utf-8")
    for setup in setups.known().values():
        assert f'id="{make_id(f"setup-{setup.name}")}"' in page


def test_every_study_has_its_section(site: Path) -> None:
    page = (site / "reference/studies.html").read_text(encoding="utf-8")
    for name in studies.names():
        assert f'id="study-{name}"' in page


def test_every_reason_for_invalidity_is_in_the_methodology(site: Path) -> None:
    page = (site / "methodology.html").read_text(encoding="utf-8")
    for reason in Reason:
        assert reason.name in page


def test_every_committed_run_has_its_page_and_its_report(root: Path, site: Path) -> None:
    listed = (site / "results/index.html").read_text(encoding="utf-8")
    for file in root.glob("results/reference-*/run.json"):
        study = json.loads(file.read_text(encoding="utf-8"))["study"]["name"]
        assert f'href="{study}.html"' in listed
        page = (site / f"results/{study}.html").read_text(encoding="utf-8")
        assert f'href="{file.parent.name}/index.html"' in page
        assert (site / "results" / file.parent.name / "index.html").is_file()
        assert (site / "results" / file.parent.name / "report.html").is_file()


def test_every_link_from_a_study_to_a_file_has_its_file(site: Path) -> None:
    for page in site.glob("results/*.html"):
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r'(?:href|src)="(?!https?:|data:|#)([^"#?]+)', text):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_index_has_a_line_of_verdict_for_each_study(site: Path) -> None:
    listed = (site / "results/index.html").read_text(encoding="utf-8")
    assert re.search(r"Throughput with \d+ connections", listed)
    assert listed.count("requests/s") >= 1
