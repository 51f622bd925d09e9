"""`report --open`: the browser that BROWSER names, one clear line where there is none, and never a wait without end."""

import shlex
import sys

import pytest

from loadtests.report.formats import viewer
from tests.fixtures.waiting import wait_for


@pytest.fixture
def page(tmp_path, monkeypatch):
    """A page whose name needs quoting in an address, on a machine without a display."""
    for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    path = tmp_path / "a report.html"
    path.write_text("<!doctype html>", encoding="utf-8")
    return path


@pytest.fixture
def browse_with(tmp_path, monkeypatch):
    """Has BROWSER be a Python script; it finds the address last in its arguments."""

    def browse_with(code, *arguments):
        file = tmp_path / "browser.py"
        file.write_text(code, encoding="utf-8")
        monkeypatch.setenv("BROWSER", f"{shlex.join([sys.executable, str(file), *map(str, arguments)])} %s")

    return browse_with


def test_the_browser_that_browser_names_gets_the_page(page, tmp_path, browse_with):
    got = tmp_path / "got"
    browse_with("import sys; open(sys.argv[1], 'w').write(sys.argv[2])", got)
    assert viewer.show(page, patience_s=60) == f"Opened {page}"
    assert got.read_text(encoding="utf-8") == page.as_uri()


def test_without_a_browser_that_starts_it_says_where_the_page_is(page, browse_with, monkeypatch):
    assert viewer.show(page) == f"There is no display to open a browser on (nor is BROWSER set); the page is {page}"
    reported = f"No browser could be started (tried BROWSER); the page is {page}"
    monkeypatch.setenv("BROWSER", "/no/such/browser")
    assert viewer.show(page, patience_s=60) == reported
    browse_with("raise SystemExit(1)")
    assert viewer.show(page, patience_s=60) == reported


def test_a_browser_that_stays_is_not_waited_for_and_not_ended(page, tmp_path, browse_with):
    stays, ended = tmp_path / "stays", tmp_path / "ended"
    stays.mkdir()
    code = "import os, sys, time\nwhile os.path.exists(sys.argv[1]): time.sleep(0.05)\nos.mkdir(sys.argv[2])"
    browse_with(code, stays, ended)
    assert viewer.show(page) == f"Opened {page}"
    assert not ended.exists()
    stays.rmdir()
    wait_for(ended.exists, "the browser was ended")
