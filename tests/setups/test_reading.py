import configparser
import os
import re
import stat
import sys
from pathlib import Path

import pytest

from loadtests import files, setups
from loadtests.errors import UserError
from loadtests.records import decode
from loadtests.setups import needs, services

SETUPS = setups.known()
# Peers with an envelope of their own.
DIALECTS = {
    "python-socketio": "socket.io",
    "socketio": "socket.io",
    "socketio-redis": "socket.io",
    "action-cable": "action-cable",
    "action-cable-redis": "action-cable",
}
# Where the servers run, by the stack.
DIRECTORIES = {"": "%(ENV_APP_DIR)s", "2016": "%(here)s/../../stacks/2016/project"}
PROGRAM = {
    "autostart": "false",
    "stopwaitsecs": "5",
    "stopasgroup": "true",
    "killasgroup": "true",
    "redirect_stderr": "true",
    "stdout_logfile_maxbytes": "10MB",
}


def setup_needing(*names):
    return setups.Setup("mine", "Mine", "wsgi", names, "", (), Path("mine.conf"))


def executable(file):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("#!/bin/sh\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)


def test_the_setups_of_the_project_are_described():
    assert {setup.interface for setup in SETUPS.values()} == {"wsgi", "asgi", "asgi-layer", "node", "rack", "bolt"}
    assert (SETUPS["daphne-redis"].needs, SETUPS["daphne-redis"].services) == (("daphne",), ("redis",))
    assert SETUPS["daphne-redis"].charges == ("redis",)
    assert SETUPS["gunicorn"].cannot == ("websocket", "keep-alive")


def test_a_setup_for_websockets_says_what_it_speaks():
    speaking = {name: setup.dialect for name, setup in SETUPS.items() if setup.dialect}
    assert {name: dialect for name, dialect in speaking.items() if dialect != "plain"} == DIALECTS
    assert {"uvicorn-channels", "uvicorn-websocket", "ws"} <= set(speaking)
    # A consumer of Channels is nothing that a peer could have.
    assert all({"sync-consumer", "json-consumer"} <= set(SETUPS[name].cannot) for name in DIALECTS)


@pytest.mark.parametrize(
    ("name", "demands", "why"),
    [
        ("uvicorn-channels", {setups.HTTP}, "it is there for WebSockets, and is not asked over HTTP"),
        ("uvicorn-channels", {setups.WEBSOCKET, "sync-consumer"}, None),
        ("ws", {setups.WEBSOCKET, "sync-consumer"}, "it cannot run a synchronous consumer of Channels"),
        ("uvicorn", {setups.HTTP}, None),
        (
            "uvicorn",
            {setups.WEBSOCKET},
            "it is there for HTTP: the application that it serves answers no WebSockets",
        ),
        ("gunicorn", {setups.WEBSOCKET}, "it cannot answer WebSockets"),
        ("gunicorn", {"async-views"}, None),
    ],
)
def test_a_setup_refuses_what_it_cannot_do_and_the_other_of_two_protocols(name, demands, why):
    assert SETUPS[name].refuses(demands) == why


def test_labels_are_different():
    labels = [setup.label for setup in SETUPS.values()]
    assert len(set(labels)) == len(labels)


def test_who_has_channels_layer_in_memory_says_so_in_its_label():
    known = SETUPS.values()
    in_memory = {one.name for one in known if 'CHANNEL_LAYER="memory"' in one.file.read_text(encoding="utf-8")}
    assert "uvicorn-channels" in in_memory
    assert {one.name for one in known if one.label.endswith("in-memory layer")} == in_memory


@pytest.mark.parametrize("name", SETUPS)
def test_a_setup_has_the_options_that_all_have(name):
    setup = SETUPS[name]
    file = setup.file
    config = configparser.RawConfigParser(inline_comment_prefixes=(";",))
    config.read(file)
    programs = [section for section in config.sections() if "command" in config[section]]
    assert programs
    for section in programs:
        program = config[section]
        assert program["command"].startswith("taskset -c %(ENV_CORES)s ")
        assert {key: program[key] for key in PROGRAM} == PROGRAM
        assert program["directory"] == DIRECTORIES[setup.stack]
        assert program["process_name"] in ("web", "web_%(process_num)d", "worker_%(process_num)d", "redis", "proxy")
        assert program["stdout_logfile"].startswith(f"%(ENV_RUN_DIR)s/{section.partition(':')[2]}")
    assert all(len(line) <= 120 for line in file.read_text().splitlines())


@pytest.fixture
def mine(tmp_path):
    """A function: a folder like supervisor/ whose one setup has this text."""

    def make(text):
        (tmp_path / "conf.d").mkdir(exist_ok=True)
        (tmp_path / "conf.d" / "mine.conf").write_text(text)
        return tmp_path

    return make


def test_a_file_that_describes_no_setup_is_named(mine):
    with pytest.raises(UserError, match=r"mine.conf does not describe a setup: it lacks 'setup:mine'"):
        setups.known(mine("[program:mine]\ncommand=true\n"))
    with pytest.raises(UserError, match=r"it lacks 'group:mine'"):
        setups.known(mine("[setup:mine]\nlabel=Mine\ninterface=wsgi\n"))
    with pytest.raises(UserError, match=r"it lacks 'interface'"):
        setups.known(mine("[setup:mine]\nlabel=Mine\n[group:mine]\nprograms=a\n"))


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ("needs=ginx", "did you mean nginx"),
        ("cannot=websockets", "did you mean websocket"),
        ("services=redis", "unknown word 'redis'; there are: none"),
        ("dialect=socketio", "did you mean socket.io"),
        ("dialect=plain socket.io", "one word is needed, not 2"),
        ("stack=2015", "did you mean 2016"),
    ],
)
def test_a_word_that_nobody_knows_is_named(mine, key, says):
    text = f"[setup:mine]\nlabel=Mine\ninterface=wsgi\n{key}\n[group:mine]\nprograms=a\n"
    with pytest.raises(UserError, match=rf"of \[setup:mine\]: unknown word .*{says}|{says}"):
        setups.known(mine(text))


def test_every_need_has_a_remedy_and_is_somebodys():
    described = (*SETUPS.values(), *services.known().values())
    needed = {need for one in described for need in one.needs}
    assert needed | {"hopless", "openssl"} == set(needs.NEEDS)  # of setups whose names end in it, and with TLS
    assert all(remedy for _, remedy in needs.NEEDS.values())


def test_a_server_is_looked_for_next_to_the_python_that_runs_it_and_nowhere_else(tmp_path):
    """One of another Python would run the project in that Python."""
    assert setups.missing(setup_needing()) is None
    assert setups.missing(setup_needing("gunicorn", "uvloop")) is None
    said = setups.missing(setup_needing("gunicorn", "waitress"), tmp_path)
    assert said == "gunicorn is not installed: pip install gunicorn; waitress is not installed: pip install waitress"
    executable(tmp_path / "gunicorn")
    assert setups.missing(setup_needing("gunicorn"), tmp_path) is None


def test_a_module_is_looked_for_in_that_python(tmp_path):
    assert setups.missing(setup_needing("uvloop"), Path(sys.executable).parent) is None
    (tmp_path / "python").symlink_to("/bin/false")
    assert setups.missing(setup_needing("uvloop"), tmp_path) == "uvloop is not installed: pip install uvloop"


def test_what_the_system_has_is_found_on_the_path_or_where_systems_keep_servers(tmp_path, monkeypatch):
    monkeypatch.setattr(needs, "SYSTEM", (str(tmp_path / "sbin"),))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert setups.missing(setup_needing("nginx")) == "nginx is not installed: apt-get install nginx"
    executable(tmp_path / "sbin/nginx")
    assert setups.missing(setup_needing("nginx")) is None


def test_a_peer_is_there_once_its_packages_are(tmp_path, monkeypatch):
    monkeypatch.setattr(needs, "ROOT", tmp_path)
    assert setups.missing(setup_needing("node-ws")) == "node-ws is not installed: make peers"
    package = tmp_path / "peers/ws/node_modules/ws/package.json"
    package.parent.mkdir(parents=True)
    package.write_text("{}")
    assert setups.missing(setup_needing("node-ws")) is None
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(needs, "SYSTEM", ())
    assert setups.missing(setup_needing("node-ws")) == "node-ws is not installed: make peers"


def test_a_redis_of_the_users_is_enough(tmp_path, monkeypatch):
    monkeypatch.setattr(needs.redis, "executable", lambda: None)
    monkeypatch.delenv("REDIS_URL", raising=False)
    assert setups.missing(setup_needing("redis")).endswith("set REDIS_URL")
    monkeypatch.setenv("REDIS_URL", "redis://localhost")
    assert setups.missing(setup_needing("redis")) is None


def test_the_helper_scripts_can_be_run():
    for script in files.SUPERVISOR.glob("*.sh"):
        if script.name != "defaults.sh":
            assert os.access(script, os.R_OK)
            assert script.read_text().startswith("#!/bin/sh\n")


def test_every_asgi_setup_of_django_can_be_served_through_hopless():
    through = [setup.through_hopless() for setup in SETUPS.values()]
    possible = {setup.name for setup in through if setup.impossible is None}
    assert {"uvicorn-hopless", "granian-asgi-hopless", "daphne-hopless", "uvicorn-channels-hopless"} <= possible
    assert not possible & {"gunicorn-hopless", "daphne-redis-hopless", "uvicorn-websocket-hopless", "ws-hopless"}
    assert setups.find([setup.name for setup in through]) == through


def test_what_hopless_needs_is_said_as_its_package_says_it():
    about = decode.read_toml(files.ROOT / "packages" / "hopless" / "pyproject.toml")["project"]
    least = [about["requires-python"], *about["dependencies"]]
    said = needs.NEEDS["hopless"][1]
    assert all(re.search(r">=([\d.]+)", one)[1] in said for one in least)
