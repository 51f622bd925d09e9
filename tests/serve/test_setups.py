import pytest

from loadtests.errors import UserError
from loadtests.serve import setups


def test_the_five_setups_of_the_project_are_described():
    known = setups.known()
    assert {name: setup.interface for name, setup in known.items()} == {
        "gunicorn": "wsgi",
        "daphne-redis": "asgi-layer",
        "daphne-ipc": "asgi-layer",
        "daphne": "asgi",
        "uvicorn": "asgi",
    }
    assert known["daphne-redis"].needs == ("redis",)


def test_a_file_that_describes_no_setup_is_named(tmp_path):
    (tmp_path / "mine.conf").write_text("[program:mine]\ncommand=true\n")
    with pytest.raises(UserError, match=r"mine.conf does not describe a setup: it lacks 'setup:mine'"):
        setups.known(tmp_path)
    (tmp_path / "mine.conf").write_text("[setup:mine]\nlabel=Mine\ninterface=wsgi\n")
    with pytest.raises(UserError, match=r"it lacks 'group:mine'"):
        setups.known(tmp_path)
