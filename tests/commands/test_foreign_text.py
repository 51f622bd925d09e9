"""Test that terminals and pages show untrusted titles, names, logs and errors as plain text."""

import dataclasses
import re
import xml.etree.ElementTree as ET

import docutils.nodes
import pytest
from docutils.core import publish_doctree
from docutils.parsers.rst import Directive, directives
from rich.console import Console

from loadtests.commands.console import data, err, out, say
from loadtests.records import Flag
from loadtests.records.run.run_record import LeftOut, SetupRecord

COMMANDS = "\x1b[31mred\x1b[0m\x1b]0;title\x07\x1b]8;;http://192.0.2.1\x1b\\link\x9b2J\x00\x08\r\u202e"
MARKUP = ":smile: [/red] [bold]b[/bold] {x}"
PAGE = "<script>alert(1)</script> **b** `r`_ |s|"
HOSTILE = f"{COMMANDS} {MARKUP} {PAGE}"
SHAPE = {"labels": ("gunicorn", "uvicorn"), "tests": ("latency",), "blocks": 2}
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


class Figure(Directive):
    has_content = True
    option_spec = {"alt": directives.unchanged}  # noqa: RUF012 - docutils' directives also use a plain dict
    required_arguments, final_argument_whitespace = 1, True

    def run(self):
        return [docutils.nodes.comment(text=self.arguments[0])]


@pytest.fixture
def run(build_run):
    """Return the folder of a run with control characters and markup in each free text."""
    built = build_run(
        **SHAPE,
        lost=(("uvicorn", "latency", 1),),
        study={"title": f".. raw:: html {HOSTILE}", "question": f".. include:: /etc/passwd {HOSTILE}::"},
        record={
            "command": f"python -m loadtests\n\n.. raw:: html\n\n   {HOSTILE}",
            "machine": {"cpu": HOSTILE, HOSTILE: HOSTILE},
            "versions": {"python": HOSTILE, "packages": {HOSTILE: HOSTILE}},
            "setups": {label: SetupRecord(HOSTILE, HOSTILE, HOSTILE) for label in SHAPE["labels"]},
            "left_out": (LeftOut("nginx", None, HOSTILE),),
            "database": HOSTILE,
        },
    )
    for trial in built.trials():
        flags = tuple(Flag(flag.reason, flag.severity, HOSTILE) for flag in trial.flags)
        built.save_trial(dataclasses.replace(trial, flags=flags, log=HOSTILE))
    return built.path


@pytest.fixture
def reported(run, command):
    code, printed, errors = command("report", run, "--rebuild")
    assert (code, errors) == (0, "")
    return run, printed


@pytest.mark.exhaustive
def test_control_characters_are_not_printed(reported, command):
    run, printed = reported
    _, compared, _ = command("compare", run, "--setups", "gunicorn,uvicorn")
    _, listed, _ = command("list")
    for text in (printed, compared, listed):
        assert not OBEYED.search(text)
    assert MARKUP in printed
    assert "title" not in printed.splitlines()[0]


def test_error_shows_markup_as_text(refused):
    errors = refused("report", f"a{HOSTILE}\udcff".replace("\x00", ""))
    assert not OBEYED.search(errors)
    assert MARKUP in errors


@pytest.mark.parametrize("console", [out, err])
def test_only_requested_colours_are_printed(console, capsys):
    console.print(data(HOSTILE))
    console.print(COMMANDS)
    say(HOSTILE)
    printed = "".join(capsys.readouterr())
    assert not OBEYED.search(printed)
    assert MARKUP in printed
    coloured = Console(force_terminal=True, color_system="standard")
    with coloured.capture() as captured:
        coloured.print(data(f"a{COMMANDS}", "red"))
    assert captured.get().startswith("\x1b[31ma")
    assert captured.get().count("\x1b[") == 2


def test_page_shows_markup_as_text(reported):
    run, _ = reported
    for page in (run / "report.html", run / "index.rst", *(run / "charts").glob("*.svg")):
        assert not OBEYED.search(page.read_text(encoding="utf-8")), page.name
    assert "<script>alert" not in (run / "report.html").read_text(encoding="utf-8")
    for drawing in (run / "charts").glob("*.svg"):
        names = {element.tag.rpartition("}")[2] for element in ET.parse(drawing).iter()}
        assert not names & {"script", "foreignObject", "image", "a"}


def test_rst_page_contains_no_injected_directive(reported, monkeypatch):
    run, _ = reported
    monkeypatch.setitem(directives._directives, "figure", Figure)
    text = (run / "index.rst").read_text(encoding="utf-8")
    quiet = {"file_insertion_enabled": True, "raw_enabled": True, "report_level": 5}
    document = publish_doctree(text, str(run / "index.rst"), settings_overrides=quiet)
    active = {"raw", "system_message", "problematic", "reference", "substitution_reference"}
    found = [node for node in document.findall() if type(node).__name__ in active]
    assert [str(node) for node in found if node.get("level") != 1] == []  # a message of level 1 is only a note
    assert "root:" not in document.astext()
    assert MARKUP in document.astext()


def test_pull_request_summary_escapes_text(run, build_run, command):
    other = build_run(**SHAPE, name="other").path
    _, summary, _ = command("compare", run, other, "--markdown")
    assert r"\<script\>alert" in summary
    assert not re.search(rf"(?<!\\)<script|(?<!\\)\*\*b|{OBEYED.pattern}", summary)
