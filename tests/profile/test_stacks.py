"""Frames as both samplers give them become the same: qualified names, the line where a function begins, short paths."""

import pytest

from loadtests.profile.stacks import INSTALLED, PROJECT, STANDARD, Frame, Reader

SOURCE = """\
import functools

class Handler:
    @functools.cache
    def answer(self):
        pick = lambda one: (
            one)
        def inner():
            return pick
        return inner

def alone():
    return 1
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "views.py").write_text(SOURCE)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "line", "expected"),
    [
        ("answer", 10, "Handler.answer (views.py:4)"),
        ("Handler.answer", 4, "Handler.answer (views.py:4)"),
        ("inner", 9, "Handler.answer.inner (views.py:8)"),
        ("<lambda>", 7, "Handler.answer.<lambda> (views.py:4)"),
        ("alone", 13, "alone (views.py:12)"),
        ("<module>", 3, "<module> (views.py:1)"),
        ("gone", 13, "gone (views.py)"),
        ("alone", 99, "alone (views.py)"),
    ],
)
def test_a_function_is_named_as_its_source_has_it(project, name, line, expected):
    assert str(Reader(str(project)).frame(name, str(project / "views.py"), line)) == expected


@pytest.mark.parametrize(
    ("path", "file", "origin"),
    [
        ("/srv/env/lib/python3.12/site-packages/django/urls/base.py", "django/urls/base.py", INSTALLED),
        ("/usr/lib/python3/dist-packages/gunicorn/app.py", "gunicorn/app.py", INSTALLED),
        ("/usr/lib/python3.11/asyncio/events.py", "asyncio/events.py", STANDARD),
        ("/srv/site/shop/views.py", "shop/views.py", PROJECT),
        ("<frozen runpy>", "<frozen runpy>", STANDARD),
        ("/srv/env/bin/gunicorn", "bin/gunicorn", STANDARD),
        ("/elsewhere/deep/down/tool.py", "down/tool.py", PROJECT),
    ],
)
def test_paths_lose_what_is_this_machines(path, file, origin):
    assert Reader("/srv/site").frame("f", path, 1) == Frame("f", file, 0, origin)
