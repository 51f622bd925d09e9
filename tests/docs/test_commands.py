"""Test that the commands in the documentation are valid.

The tests parse the options of all commands. They execute the commands that only read files. They also execute ``run``
with ``--dry-run`` and ``make`` with ``-n``. The tests' folder contains the files that the pages require: projects,
recordings and runs.
"""

import json
import re
import shlex
import shutil
import subprocess
from typing import NamedTuple

import pytest
import typer

from loadtests import files, setups
from loadtests.cli import app
from loadtests.errors import UserError
from loadtests.files import ROOT
from loadtests.plan import study as studies

pytestmark = pytest.mark.exhaustive

RST = re.compile(r"^( *)\.\. code-block:: (?:sh|console)\n\n((?:\1   .*\n|\n)+)", re.MULTILINE)
INLINE = re.compile(r"``((?:\.venv/bin/)?python -m loadtests \w+ [^`<]+)``")
MARKDOWN = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CALLED = {"python", ".venv/bin/python"}
QUICK = {"run", "report", "compare", "list", "workload"}
NAMING = {"check", "profile", "serve", "advise"}  # commands whose arguments are setups or a study
NO_DRY_RUN = {"--servers", "--hosts", "--resume"}  # these options require other machines, or exclude --dry-run
STAND_INS = {"SETUP": "gunicorn", "STUDY": "first-look", "NAME": "gunicorn"}
RECORDING = {"method": "GET", "url": "http://127.0.0.1:8000/", "headers": [], "cookies": []}
LOGGED = '127.0.0.1 - - [01/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 2 "-" "-"\n'


class Command(NamedTuple):
    """A command on a page: the variables before the command, and the words of the command."""

    page: str
    variables: tuple[str, ...]
    words: tuple[str, ...]


def blocks(page):
    """Yield the shell code blocks of a page, and the inline commands in its text."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".rst":
        yield from (found[2] for found in RST.finditer(text))
        yield from INLINE.findall(text)
    yield from (found[2] for found in MARKDOWN.finditer(text) if found[1] in ("", "sh", "console"))


def commands_of(block):
    """Yield the words of each command in a code block. Prompts (``$``) and redirections are omitted."""
    for line in block.replace("\\\n", " ").splitlines():
        words = shlex.shlex(line.strip().removeprefix("$ "), posix=True, punctuation_chars=True)
        words.whitespace_split = True
        command = []
        words = iter([*words, ";"])
        for word in words:
            if word in ("&&", ";", "|"):
                yield tuple(command)
                command = []
            elif word in ("<", ">"):
                next(words)  # skip the file name
            else:
                command.append(STAND_INS.get(word, word))


def written():
    folders = ("docs/*.rst", "docs/[br]*/*.rst", "*.md", "packages/*/*.md")
    for page in sorted(page for pattern in folders for page in ROOT.glob(pattern)):
        if page.parent.name != "results" and page.name != "CHANGELOG.md":
            for words in (words for block in blocks(page) for words in commands_of(block)):
                before = [word for word in words if re.match(r"[A-Z_]+=", word)] if words else []
                count = next((place for place, word in enumerate(words) if word not in before), len(words))
                yield Command(page.name, words[:count], words[count:])


COMMANDS = list(dict.fromkeys(written()))
OURS = [one for one in COMMANDS if one.words[:1] and one.words[0] in CALLED and one.words[1:3] == ("-m", "loadtests")]
WHOLE = [one for one in OURS if one.words[3] in QUICK and not NO_DRY_RUN & set(one.words)]
MAKE = [one for one in COMMANDS if one.words[:1] == ("make",)]


def shown(command):
    return f"{command.page}: {shlex.join([*command.variables, *command.words])}"


@pytest.fixture(scope="module")
def folder(run_builder, tmp_path_factory):
    """Return a benchmark folder with the runs and files that the pages mention, next to example projects."""
    here = tmp_path_factory.mktemp("reader") / "benchmark"
    here.mkdir()
    (here / "docs").symlink_to(ROOT / "docs")
    for project in ("project", "my-branch", "shop", "blog", "mysite"):
        shutil.copytree(ROOT / "docs/examples/chat", here.parent / project)
    (here.parent / "project" / "Procfile").write_text("web: gunicorn chat.wsgi\n", encoding="utf-8")
    for run in ("before", "after", "main", "branch", "RUN"):
        run_builder(here / "results")(name=run, record={"created": "2026-12-24T09:00:00+00:00"})
    for run in ROOT.glob("results/reference-*"):
        (here / "results" / run.name).symlink_to(run)
    for run in ("RUN_A", "RUN_B"):
        (here / run).symlink_to("results/before")
    against = {"gunicorn-my-branch": "gunicorn", "uvicorn-my-branch": "uvicorn"}
    run_builder(here)(name="change", labels=(*against, "gunicorn", "uvicorn"), against=against)
    entry = {"startedDateTime": "2026-11-01T10:00:00Z", "request": RECORDING, "response": {"status": 200}}
    for file in ("visit.har", "test_household.json"):
        (here / file).write_text(json.dumps({"log": {"entries": [entry]}}), encoding="utf-8")
    (here / "access.log").write_text(LOGGED, encoding="utf-8")
    for file in ("shop.py", "groups.py"):
        shutil.copy(ROOT / "loadtests/journeys/questionnaire.py", here / file)
    shutil.copy(ROOT / "loadtests/studies/first-look.toml", here / "my.toml")
    return here


def test_commands_are_found():
    assert len(OURS) > 60
    assert {one.words[3] for one in OURS} >= {"run", "report", "list", "compare", "check", "advise", "load", "capacity"}
    assert {"README.md", "own-project.rst", "2016.rst"} <= {one.page for one in OURS}


def test_variables_before_commands_are_knobs():
    variables = [(one.page, variable) for one in COMMANDS for variable in one.variables]
    names = {*setups.KNOBS, *setups.prefixed(dict.fromkeys(setups.KNOBS, "")), "LOAD_TOKEN_FILE"}
    assert [one for one in variables if one[1].partition("=")[0] not in names] == []


@pytest.mark.parametrize("command", OURS, ids=shown)
def test_options_in_docs_exist(command):
    found = typer.main.get_command(app)
    words = list(command.words[3:])
    while hasattr(found, "commands"):
        assert words[0] in found.commands
        found = found.commands[words.pop(0)]
    context = found.make_context(found.name, words)
    given = context.params.get("setups") or [context.params.get("setup")]
    if found.name in NAMING and given != [None]:
        names = {name for word in given for name in word.split(",")}
        setups.find(names - set(studies.names()))


@pytest.mark.parametrize("command", MAKE, ids=shown)
def test_make_targets_in_docs_exist(command):
    variables = dict(word.split("=", 1) for word in command.words[1:] if "=" in word)
    assert set(variables) <= set(re.findall(r"^([A-Z_]+) \?=", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert variables.get("STUDY", "first-look") in studies.names()
    assert setups.find([variables.get("SETUP", "gunicorn")])
    subprocess.run(["make", "-n", *command.words[1:]], cwd=ROOT, check=True, capture_output=True)


@pytest.mark.slow
@pytest.mark.parametrize("command", WHOLE, ids=shown)
def test_command_in_docs_succeeds(command, folder, free_port, tmp_path, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(files, "RESULTS", folder / "results")
    exported = (f"PORT={free_port}", "BROWSER=true", "JOURNEY_PASSWORD=secret")
    for variable in (*exported, *command.variables):
        monkeypatch.setenv(*variable.split("=", 1))
    words = [word.replace("/path/to", str(folder.parent)).replace("/var/log/nginx", ".") for word in command.words[3:]]
    if "--output" in words:
        words[words.index("--output") + 1] = str(tmp_path / "written")
    more = ["--dry-run"] if words[0] == "run" and "--dry-run" not in words else []
    try:
        app([*words, *more], standalone_mode=False)
    except UserError as error:
        if not re.search("is not installed|was not found here", str(error)):  # an uninstalled variant
            raise
