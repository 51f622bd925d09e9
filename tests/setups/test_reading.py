"""Test the setups in supervisor/conf.d, and the check for missing requirements."""

import configparser
from pathlib import Path

import pytest

from loadtests import setups
from loadtests.errors import UserError
from loadtests.setups import needs, redis
from loadtests.setups.variants import parse

SETUPS = setups.known()
PROGRAM = {
    "autostart": "false",
    "stopwaitsecs": "5",
    "stopasgroup": "true",
    "killasgroup": "true",
    "redirect_stderr": "true",
}


def test_setups_have_unique_labels():
    assert {setup.interface for setup in SETUPS.values()} == {"wsgi", "asgi", "asgi-layer", "node", "rack", "bolt"}
    assert (SETUPS["daphne-redis"].needs, SETUPS["daphne-redis"].services) == (("daphne",), ("redis",))
    assert SETUPS["daphne-redis"].charges == ("redis",)
    assert SETUPS["gunicorn"].cannot == ("websocket", "keep-alive")
    assert len({setup.label for setup in SETUPS.values()}) == len(SETUPS)


OVER_HTTP = "it only serves HTTP"


@pytest.mark.parametrize(
    ("name", "demands", "why"),
    [
        ("uvicorn-channels", {setups.HTTP}, "it only supports WebSockets, not HTTP tests"),
        ("uvicorn-channels", {setups.WEBSOCKET}, None),
        ("uvicorn", {setups.HTTP}, None),
        ("uvicorn", {setups.WEBSOCKET}, OVER_HTTP),
        ("gunicorn", {setups.WEBSOCKET}, "it cannot answer WebSockets"),
        ("gunicorn", {"async-views"}, None),
    ],
)
def test_setup_refuses_unsupported_demands(name, demands, why):
    assert SETUPS[name].refuses(demands) == why


@pytest.mark.parametrize("name", SETUPS)
def test_setup_has_common_options(name):
    setup = SETUPS[name]
    config = configparser.RawConfigParser(inline_comment_prefixes=(";",))
    config.read(setup.file)
    programs = [section for section in config.sections() if "command" in config[section]]
    assert programs
    for section in programs:
        program = config[section]
        assert program["command"].startswith("taskset -c %(ENV_BENCH_CORES)s ")
        assert {key: program[key] for key in PROGRAM} == PROGRAM


GROUP = "[group:mine]\nprograms=a\n"
WORDS = f"[setup:mine]\nlabel=Mine\ninterface=wsgi\n{{}}\n{GROUP}"
UNKNOWN = r"of \[setup:mine\]: unknown word .*"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[program:mine]\ncommand=true\n", "mine.conf does not describe a setup: it lacks 'setup:mine'"),
        ("[setup:mine]\nlabel=Mine\ninterface=wsgi\n", "it lacks 'group:mine'"),
        (f"[setup:mine]\nlabel=Mine\n{GROUP}", "it lacks 'interface'"),
        (WORDS.format("needs=ginx"), f"{UNKNOWN}Did you mean nginx"),
        (WORDS.format("services=redis"), "unknown word 'redis'. Choices are: none"),
        (WORDS.format("dialect=plain socket.io"), "must be one word, not 2"),
    ],
)
def test_invalid_setup_file_is_named(tmp_path, text, says):
    (tmp_path / "conf.d").mkdir()
    (tmp_path / "conf.d" / "mine.conf").write_text(text)
    with pytest.raises(UserError, match=says):
        setups.known(tmp_path)


def test_every_django_asgi_setup_supports_hopless():
    hopless = parse("hopless")
    possible = {name for name, setup in SETUPS.items() if setup.unfit(hopless) is None}
    assert {"uvicorn", "granian-asgi", "daphne", "uvicorn-channels"} <= possible
    assert not possible & {"gunicorn", "daphne-redis", "uvicorn-websocket", "ws"}
    [plain, twin] = setups.find(["uvicorn"], [hopless])
    assert (twin.name, twin.group, twin.needs) == ("uvicorn-hopless", "uvicorn", (*plain.needs, "hopless"))


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Simulate a machine without programs. Return the folder for commands (bin), servers (sbin) and peers."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(needs, "SYSTEM", (str(tmp_path / "sbin"),))
    monkeypatch.setattr(needs, "ROOT", tmp_path)
    return tmp_path


def executable(file):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch(mode=0o700)


def missing(*names, bin=None):
    """Return the missing requirement of a setup with these needs."""
    return setups.missing(setups.Setup("mine", "Mine", "wsgi", names, "", (), Path("mine.conf")), bin)


def test_server_next_to_python_is_found(tmp_path):
    """A server's command from another Python isn't used, because it would run the project in that Python."""
    assert missing() is None
    assert missing("gunicorn", "uvloop") is None
    said = "gunicorn is not installed: pip install gunicorn; waitress is not installed: pip install waitress"
    assert missing("gunicorn", "waitress", bin=tmp_path) == said
    executable(tmp_path / "gunicorn")
    assert missing("gunicorn", bin=tmp_path) is None


def test_system_programs_are_found(machine):
    assert missing("nginx") == "nginx is not installed: apt-get install nginx"
    executable(machine / "sbin/nginx")
    assert missing("nginx") is None


@pytest.mark.parametrize(
    ("url", "why"), [("redis://127.0.0.1:1", "Connection refused"), ("unix:///nothing", "No such file")]
)
def test_missing_redis_has_a_reason(url, why):
    assert redis.refusal(url).startswith(why)
