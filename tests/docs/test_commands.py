"""Test that the commands in the documentation are valid: their options, setups, studies, variables and targets."""

import re
import shlex
from typing import NamedTuple

import pytest
import typer

from loadtests import setups
from loadtests.cli import app
from loadtests.files import ROOT
from loadtests.plan import study as studies

pytestmark = pytest.mark.exhaustive

RST = re.compile(r"^( *)\.\. code-block:: (?:sh|console)\n\n((?:\1   .*\n|\n)+)", re.MULTILINE)
INLINE = re.compile(r"``((?:\.venv/bin/)?python -m loadtests \w+ [^`<]+)``")
MARKDOWN = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CALLED = {"python", ".venv/bin/python"}
NAMING = {"check", "profile", "serve"}  # commands whose arguments are setups or a study
STAND_INS = {"SETUP": "gunicorn", "STUDY": "first-look", "NAME": "gunicorn"}


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


def shown(command):
    return f"{command.page}: {shlex.join([*command.variables, *command.words])}"


def test_commands_are_found():
    assert len(OURS) > 60
    assert {one.words[3] for one in OURS} >= {"run", "report", "list", "compare", "check", "load", "capacity"}
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
