"""``doctor``: what will disturb a measurement on this machine."""

from __future__ import annotations

from rich.text import Text

from loadtests.commands.console import data, fail, out, say

COLOURS = {"error": "bold red", "warning": "yellow", "ok": "green"}


def command() -> None:
    """Say what will disturb a measurement on this machine, and how to put it right; changes nothing."""
    from loadtests.measure import doctor

    findings = doctor.examine()
    for finding in findings:
        level = data(f"{finding.level:>7}", COLOURS[finding.level])
        out.print(Text.assemble(level, "  ", data(finding.what)), soft_wrap=True)
        if finding.fix:
            say(f"         {finding.fix}")
    if not doctor.possible(findings):
        fail("nothing can be measured before this is put right")
