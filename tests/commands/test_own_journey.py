"""What the command line says of a journey of one's own, before anything is started."""

import pytest

from loadtests.workload import sign_in

JOURNEY = 'from loadtests.journeys.base import Journey\n\nclass Mine(Journey):\n    path = "/shop/"\n'


@pytest.fixture
def mine(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(JOURNEY)
    return file


def test_a_journey_is_measured_in_a_study_of_its_own(command, mine):
    code, printed, errors = command("run", "--journey", mine, "--dry-run")
    assert (code, errors) == (0, "")
    assert "the journey mine at /shop/, 20 users" in printed
    assert "the journey mine at /shop/, 1 new users a second" in printed


def test_how_users_sign_in_is_said_and_the_password_is_not(command, monkeypatch, mine):
    monkeypatch.setenv(sign_in.PASSWORD, "hunter2")
    login = ("--login", "/in/", "--login-user", "ada")
    code, printed, _ = command("run", "--journey", mine, "--dry-run", *login)
    assert code == 0
    assert "the journey mine at /shop/, signed in at /in/, 20 users" in printed
    assert "hunter2" not in printed


@pytest.mark.parametrize(
    ("arguments", "env", "says"),
    [
        (("--journey", "none.py"), {}, "--journey none.py: a file of Python with a journey is needed"),
        (("first-look", "--journey", "MINE"), {}, "first-look has no test whose users run a journey"),
        (("--login", "/in/"), {}, "what is missing is --login-user"),
        (("--login-user", "ada"), {}, "what is missing is --login, the page to sign in on"),
        (("--login", "in", "--login-user", "ada"), {}, "login: is 'in'; the path of a page is needed"),
        (("--login", "//evil.example/in/", "--login-user", "ada"), {}, "login: is '//evil.example/in/'; the path"),
        (("--login", "/in/", "--login-user", "ada"), {"JOURNEY_COOKIE": "a=b"}, "both are given; leave one out"),
        (("--journey", "MINE"), {"JOURNEY_COOKIE": "a=b\n"}, "JOURNEY_COOKIE: is no line of text"),
        (("--login", "/in/", "--login-user", "ada", "--dry-run"), {}, "set JOURNEY_PASSWORD to the password of ada"),
    ],
)
def test_what_makes_no_sense_is_one_line(command, monkeypatch, mine, arguments, env, says):
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    code, _, errors = command("run", *(mine if one == "MINE" else one for one in arguments), "--dry-run")
    assert code == 1
    assert says in errors


def test_where_a_journey_begins_is_a_path(command, mine):
    mine.write_text(JOURNEY.replace("/shop/", "shop"))
    code, _, errors = command("run", "--journey", mine, "--dry-run")
    assert (code, "path = 'shop': where the application begins is needed" in errors) == (1, True)


def test_a_cookie_in_the_environment_signs_in_nobody_who_walks_another_journey(command, monkeypatch):
    monkeypatch.setenv(sign_in.COOKIE, "sessionid=1")
    code, printed, _ = command("run", "scale", "--dry-run")
    assert code == 0
    assert "signed in" not in printed
