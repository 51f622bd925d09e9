"""``doctor``: what will disturb a measurement on this machine."""

from __future__ import annotations

from rich.markup import escape

from loadtests.commands.console import fail, out

COLOURS = {"error": "bold red", "warning": "yellow", "ok": "green"}


def command() -> None:
    """Say what will disturb a measurement on this machine, and how to put it right; changes nothing."""
    from loadtests.measure import doctor

    findings = doctor.examine()
    for finding in findings:
        out.print(f"[{COLOURS[finding.level]}]{finding.level:>7}[/]  {escape(finding.what)}", soft_wrap=True)
        if finding.fix:
            out.print(f"         {escape(finding.fix)}", soft_wrap=True)
    if not doctor.possible(findings):
        fail("nothing can be measured before this is put right")
