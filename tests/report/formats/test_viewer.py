"""`report --open`: the browser that BROWSER names, one clear line where there is none, and never a wait without end."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from loadtests.report.formats import viewer


@pytest.fixture(autouse=True)
def no_display(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """A page whose name needs quoting in an address."""
    path = tmp_path / "a report.html"
    path.write_text("<!doctype html>", encoding="utf-8")
    return path


@pytest.fixture
def browser(tmp_path: Path) -> Callable[..., str]:
    """Gives a BROWSER that is a Python script; it finds the address last in its arguments."""

    def script(code: str, *arguments: str) -> str:
        file = tmp_path / "browser.py"
        file.write_text(code, encoding="utf-8")
        return f"{shlex.join([sys.executable, str(file), *arguments])} %s"

    return script


def test_the_browser_that_browser_names_gets_the_page(
    page: Path, tmp_path: Path, browser: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    got = tmp_path / "got"
    monkeypatch.setenv("BROWSER", browser("import sys; open(sys.argv[1], 'w').write(sys.argv[2])", str(got)))
    assert viewer.show(page, patience_s=60) == f"Opened {page}"
    assert got.read_text(encoding="utf-8") == page.as_uri()


def test_without_a_display_it_says_where_the_page_is(page: Path) -> None:
    assert viewer.show(page) == f"There is no display to open a browser on (nor is BROWSER set); the page is {page}"


def test_a_browser_that_does_not_start_is_reported(
    page: Path, browser: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("/no/such/browser", browser("raise SystemExit(1)")):
        monkeypatch.setenv("BROWSER", name)
        assert viewer.show(page, patience_s=60) == f"No browser could be started (tried BROWSER); the page is {page}"


def test_a_browser_that_stays_is_not_waited_for_and_not_ended(
    page: Path, tmp_path: Path, browser: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stays, ended = tmp_path / "stays", tmp_path / "ended"
    stays.mkdir()
    code = "import os, sys, time\nwhile os.path.exists(sys.argv[1]): time.sleep(0.05)\nos.mkdir(sys.argv[2])"
    monkeypatch.setenv("BROWSER", browser(code, str(stays), str(ended)))
    assert viewer.show(page) == f"Opened {page}"
    assert not ended.exists()
    stays.rmdir()
    for _ in range(1200):
        if ended.exists():
            return
        time.sleep(0.05)
    pytest.fail("the browser was ended")
