"""Define directives that generate text from the code when the documentation is built."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import architecture
import setup_settings
import typer
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from typer.testing import CliRunner

from loadtests import setups
from loadtests.cli import app as cli
from loadtests.plan import study as studies
from loadtests.setups import services
from loadtests.trials.reasons import Reason

WIDTH = "92"  # the number of columns of a help text on the page


class FromCode(SphinxDirective):
    """Insert the reST that `lines` yields. Every build reads the page again."""

    def run(self) -> list[nodes.Node]:
        self.env.note_reread()
        return self.parse_text_to_nodes("\n".join(self.lines()), allow_section_headings=True)

    def lines(self) -> Iterator[str]:
        raise NotImplementedError


class Setups(FromCode):
    """Insert a section for each setup: the description from its file, and the file itself."""

    def lines(self) -> Iterator[str]:
        for setup in setups.known().values():
            yield from [f".. _setup-{setup.name}:", "", *heading(setup.label)]
            yield from ["", f":Name: ``{setup.name}``", f":Interface: ``{setup.interface}``"]
            yield from [f":Needs: {', '.join((*setup.needs, *setup.services))}", f":Cannot: {cannot(setup.cannot)}"]
            yield from [f":Offers: {'; '.join(setups.OFFERS[one] for one in setup.offers)}"] if setup.offers else []
            if setup.dialect:
                yield f":Speaks: WebSockets, the dialect ``{setup.dialect}`` (:ref:`page-peers`)"
            yield from [f":Stack: that of {setup.stack} (:ref:`page-stacks`)"] if setup.stack else []
            yield from [f":Known problem: {setup.wrong}"] if setup.wrong else []
            yield from [f":Server: {setup.docs}", ""]
            yield from head_comment(setup.file)
            yield from ["", f".. literalinclude:: /../supervisor/conf.d/{setup.file.name}", "   :language: ini"]
            yield from [f"   :caption: supervisor/conf.d/{setup.file.name}", f"   :start-at: [setup:{setup.name}]", ""]


class Architecture(FromCode):
    """Insert a table with the layers of loadtests: their packages, and the imports of these packages."""

    def lines(self) -> Iterator[str]:
        return architecture.picture()


class Services(FromCode):
    """Insert an entry for each service: the description from its file, and the setups that need the service."""

    def lines(self) -> Iterator[str]:
        for service in services.known().values():
            users = [setup.name for setup in setups.known().values() if service.name in setup.services]
            yield from [f"``{service.name}`` (supervisor/services/{service.file.name})"]
            yield from (f"   {line}" for line in head_comment(service.file))
            yield f"   Needed by: {', '.join(f':ref:`{name} <setup-{name}>`' for name in users) or 'no setup'}."
            yield ""


class Fairness(FromCode):
    """Insert a section for each topic of settings: the reason for the values, and the setups that use each value."""

    def lines(self) -> Iterator[str]:
        todays = (setup for setup in setups.known().values() if not setup.stack)
        for concern, settings in setup_settings.tables(todays).items():
            yield from [*heading(concern.title), "", concern.why, "", ".. list-table::", "   :header-rows: 1"]
            yield from ["   :widths: 45 55", "", "   * - Setting", "     - Setups"]
            for shown, names in settings.items():
                links = ", ".join(f":ref:`{name} <setup-{name}>`" for name in names)
                yield from [f"   * - ``{shown}``", f"     - {links}"]
            yield ""


class Commands(FromCode):
    """Insert a section for each command, with its help text."""

    def lines(self) -> Iterator[str]:
        for name in sorted(command_names()):
            yield from [f".. _{nodes.make_id(f'command-{name}')}:", "", *heading(f"``{name}``"), ""]
            yield from [".. code-block:: text", "", *(f"   {line}" for line in help_text(name).splitlines()), ""]


class Studies(FromCode):
    """Insert a section for each included study: its question, and its file."""

    def lines(self) -> Iterator[str]:
        for name in studies.names():
            study = studies.load(name)
            yield from [f".. _study-{name}:", "", *heading(f"``{name}``"), "", f"**{study.title}.** {study.question}"]
            yield from ["", f".. literalinclude:: /../loadtests/studies/{name}.toml", "   :language: toml", ""]


class Reasons(FromCode):
    """Insert the table of reasons why a trial is invalid or doubtful."""

    def lines(self) -> Iterator[str]:
        yield from [".. list-table::", "   :header-rows: 1", "   :widths: 15 12 36 37", ""]
        for row in [("Name", "Severity", "Meaning", "What to do"), *map(reason_row, Reason)]:
            yield from (f"   {'  ' if column else '* '}- {cell}" for column, cell in enumerate(row))


def heading(text: str) -> list[str]:
    """Return a section's title with its underline."""
    return [text, "-" * len(text)]


def cannot(words: tuple[str, ...]) -> str:
    """Return the descriptions of features that a setup lacks, separated by semicolons."""
    return "; ".join(setups.CANNOT[word] for word in words)


def head_comment(file: Path) -> list[str]:
    """Return the lines of the comment at the start of a supervisor file, without their semicolons."""
    comment = takewhile(lambda line: line.startswith(";"), file.read_text(encoding="utf-8").splitlines())
    return [plain(line[1:].removeprefix(" ")) for line in comment]


def plain(text: str) -> str:
    """Escape the characters that are markup in reST."""
    return re.sub(r"[*`|\\]|_(?!\w)", r"\\\g<0>", text)


def command_names() -> Iterator[str]:
    """Yield the names of all commands, such as ``run`` and ``hosts prepare``."""
    for name, command in typer.main.get_command(cli).commands.items():
        below = getattr(command, "commands", None)
        yield from (f"{name} {one}" for one in below) if below else (name,)


def help_text(command: str) -> str:
    """Return the output of ``python -m loadtests COMMAND --help``."""
    result = CliRunner().invoke(cli, [*command.split(), "--help"], env={"COLUMNS": WIDTH}, catch_exceptions=False)
    return result.output.strip()


def reason_row(reason: Reason) -> tuple[str, str, str, str]:
    """Return the cells of a reason's row."""
    return (f"``{reason.name}``", reason.severity.value, plain(f"{reason.meaning}."), plain(reason.remedy))


def setup(app: Sphinx) -> dict[str, bool]:
    for directive in (Architecture, Setups, Services, Fairness, Commands, Studies, Reasons):
        app.add_directive(f"from-code-{directive.__name__.lower()}", directive)
    return {"parallel_read_safe": True}
