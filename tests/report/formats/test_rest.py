"""Test the reST page, which Sphinx must build without warnings for any texts."""

import pytest
from sphinx.application import Sphinx

from loadtests.report import reports
from loadtests.report.formats.rest import escape
from tests.report.changed import replaced


@pytest.mark.slow
@pytest.mark.exhaustive
@pytest.mark.filterwarnings("default")  # Sphinx uses deprecated functions of docutils
def test_page_builds_without_warnings(build_run, tmp_path):
    change = replaced(errors={"status": 2})
    full = {"tests": ("latency", "throughput", "capacity"), "lost": (("daphne", "latency", 1),), "change": change}
    study = {"title": "*Odd* `texts` | and_ <more>", "question": "- 1. Why\n\n  not_?"}
    machine = {"cpu": "* AMD | EPYC_ `x`", "list": [], "empty": {}}
    reports.write(build_run(name="full", aa=True, **full))
    reports.write(build_run(name="empty", blocks=0))
    reports.write(build_run(name="odd", labels=("a_", "b-2.x", "1."), study=study, record={"machine": machine}))
    (tmp_path / "index.rst").write_text("Runs\n====\n\n.. toctree::\n\n   full/index\n   empty/index\n   odd/index\n")
    (tmp_path / "conf.py").write_text("")
    with (tmp_path / "warnings").open("w+") as warnings:
        app = Sphinx(tmp_path, tmp_path, tmp_path / "out", tmp_path / "doctrees", "html", status=None, warning=warnings)
        app.build()
        warnings.seek(0)
        assert warnings.read() == ""
    html = (tmp_path / "out" / "full" / "index.html").read_text(encoding="utf-8")
    assert html.count("<img alt=") == 10
    assert "Odd* `texts` | and_ &lt;more&gt;" in (tmp_path / "out" / "odd" / "index.html").read_text(encoding="utf-8")


def test_markup_is_escaped():
    assert escape("*a* `b` |c| d_ <e>\n f\\") == r"\*a\* \`b\` \|c\| d\_ \<e\> f\\"
