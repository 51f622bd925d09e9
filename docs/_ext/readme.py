"""What README quotes of the committed runs: a study's answer, as the newest reference run prints it.

A quote stands in a code block below ``<!-- answer of STUDY -->``. ``PYTHONPATH=. python docs/_ext/readme.py`` writes
all of them anew; a test asks for it where a newer run says otherwise.
"""

from __future__ import annotations

import re
from pathlib import Path

from reference_runs import REFERENCES, References

from loadtests.report.formats import brief

README = Path(__file__).resolve().parents[2] / "README.md"
QUOTE = re.compile(r"(<!-- answer of (\S+) -->\n```text\n).*?(```\n)", re.DOTALL)


def quoting(text: str, references: References) -> str:
    """The text with each of its quotes as the newest run has it. Raises LookupError where there is none."""
    return QUOTE.sub(lambda quote: f"{quote[1]}{answer(quote[2], references)}{quote[3]}", text)


def answer(study: str, references: References) -> str:
    """What ``report`` prints of the newest reference run of a study."""
    references.newest(study)
    [run, *_] = references.studies[study]
    lines = brief.lines(run.page, f"results/{run.name}/report.html")
    return "".join(f"{line.plain}\n" for line in lines)


if __name__ == "__main__":
    README.write_text(quoting(README.read_text(encoding="utf-8"), REFERENCES), encoding="utf-8")
