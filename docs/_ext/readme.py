"""Write the parts of README that are generated from committed runs: the answer of a study, and the advice.

An answer is in a code block below ``<!-- answer of STUDY -->``, and the table of advice between ``<!-- advice -->`` and
``<!-- end -->``. ``PYTHONPATH=. python docs/_ext/readme.py`` updates them, the chart in docs/choosing.svg and the model
that ``run --app`` uses. If a newer run has different figures, a test and the build fail.
"""

from __future__ import annotations

import re
from pathlib import Path

import advice
import reference_model
import view_worth
from reference_runs import REFERENCES, References

from loadtests.analyse import cost_model
from loadtests.report.formats import terminal

README = Path(__file__).resolve().parents[2] / "README.md"
CHART = advice.FILE.with_suffix(".svg")
QUOTE = re.compile(r"(<!-- answer of (\S+) -->\n```text\n).*?(```\n)", re.DOTALL)
TABLE = re.compile(r"(<!-- advice -->\n).*?(<!-- end -->\n)", re.DOTALL)


def quoting(text: str, references: References) -> str:
    """Return README's text with the answers from the newest runs.

    Raises:
        LookupError: If a study has no reference run.
    """
    return QUOTE.sub(lambda quote: f"{quote[1]}{answer(quote[2], references)}{quote[3]}", text)


def answer(study: str, references: References) -> str:
    """Return the output of ``report`` for the newest reference run of a study."""
    references.newest(study)
    [run, *_] = references.studies[study]
    lines = terminal.lines(run.page, f"results/{run.name}/report.html")
    return "".join(f"{line.plain}\n" for line in lines)


def written(references: References) -> dict[Path, str]:
    """Return the up-to-date content of README, its chart and the model, by file."""
    text = quoting(README.read_text(encoding="utf-8"), references)
    table = advice.for_readme()
    return {
        README: TABLE.sub(lambda part: part[1] + table + part[2], text),
        CHART: view_worth.as_file(),
        cost_model.SHIPPED: cost_model.encoded(reference_model.model()),
    }


if __name__ == "__main__":
    for file, text in written(REFERENCES).items():
        file.write_text(text, encoding="utf-8")
