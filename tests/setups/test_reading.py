"""Test the setups in supervisor/conf.d, and the check for missing requirements."""

import configparser
import re
import socket
import sys
from pathlib import Path

import pytest

from loadtests import files, setups
from loadtests.errors import UserError
from loadtests.records import decode
from loadtests.setups import needs, redis, services
from loadtests.setups.variants import parse

SETUPS = setups.known()
# The message formats of the peers that don't send plain messages.
DIALECTS = {
    "python-socketio": "socket.io",
    "socketio": "socket.io",
    "socketio-redis": "socket.io",
    "action-cable": "action-cable",
    "action-cable-redis": "action-cable",
}
# The servers' working directory, by stack.
DIRECTORIES = {"": "%(ENV_APP_DIR)s", "2016": "%(here)s/../../stacks/2016/project"}
PROGRAM = {
    "autostart": "false",
    "stopwaitsecs": "5",
    "stopasgroup": "true",
    "killasgroup": "true",
    "redirect_stderr": "true",
    "stdout_logfile_maxbytes": "10MB",
}


def test_setups_have_unique_labels():
    assert {setup.interface for setup in SETUPS.values()} == {"wsgi", "asgi", "asgi-layer", "node", "rack", "bolt"}
    assert (SETUPS["daphne-redis"].needs, SETUPS["daphne-redis"].services) == (("daphne",), ("redis",))
    assert SETUPS["daphne-redis"].charges == ("redis",)
    assert SETUPS["gunicorn"].cannot == ("websocket", "keep-alive")
    assert len({setup.label for setup in SETUPS.values()}) == len(SETUPS)
    in_memory = {one.name for one in SETUPS.values() if 'CHANNEL_LAYER="memory"' in one.file.read_text("utf-8")}
    assert "uvicorn-channels" in in_memory
    assert {one.name for one in SETUPS.values() if one.label.endswith("in-memory layer")} == in_memory


def test_websocket_setup_names_its_protocol():
    speaking = {name: setup.dialect for name, setup in SETUPS.items() if setup.dialect}
    assert {name: dialect for name, dialect in speaking.items() if dialect != "plain"} == DIALECTS
    assert {"uvicorn-channels", "uvicorn-websocket", "ws"} <= set(speaking)
    # Only Channels has consumers, so no peer supports the sync or JSON consumer.
    assert all({"sync-consumer", "json-consumer"} <= set(SETUPS[name].cannot) for name in DIALECTS)


OVER_HTTP = "it only serves HTTP"


@pytest.mark.parametrize(
    ("name", "demands", "why"),
    [
        ("uvicorn-channels", {setups.HTTP}, "it only supports WebSockets, not HTTP tests"),
        ("uvicorn-channels", {setups.WEBSOCKET, "sync-consumer"}, None),
        ("ws", {setups.WEBSOCKET, "sync-consumer"}, "it cannot run a synchronous consumer of Channels"),
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
        assert program["directory"] == DIRECTORIES[setup.stack]
        assert program["process_name"] in ("web", "web_%(process_num)d", "worker_%(process_num)d", "redis", "proxy")
        assert program["stdout_logfile"].startswith(f"%(ENV_RUN_DIR)s/{section.partition(':')[2]}")
    assert all(len(line) <= 120 for line in setup.file.read_text().splitlines())


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
        (WORDS.format("cannot=websockets"), f"{UNKNOWN}Did you mean websocket"),
        (WORDS.format("services=redis"), "unknown word 'redis'. Choices are: none"),
        (WORDS.format("dialect=socketio"), f"{UNKNOWN}Did you mean socket.io"),
        (WORDS.format("dialect=plain socket.io"), "must be one word, not 2"),
        (WORDS.format("stack=2015"), f"{UNKNOWN}Did you mean 2016"),
    ],
)
def test_invalid_setup_file_is_named(tmp_path, text, says):
    (tmp_path / "conf.d").mkdir()
    (tmp_path / "conf.d" / "mine.conf").write_text(text)
    with pytest.raises(UserError, match=says):
        setups.known(tmp_path)


def test_helper_scripts_are_executable():
    scripts = [script for script in files.SUPERVISOR.glob("*.sh") if script.name != "defaults.sh"]
    assert all(script.read_text().startswith("#!/bin/sh\n") for script in scripts)


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


def test_every_need_has_a_remedy():
    described = (*SETUPS.values(), *services.known().values())
    needed = {need for one in described for need in one.needs}
    by_name_or_knob = {"hopless", "openssl", "gunicorn-h1c"}
    assert needed | by_name_or_knob == set(needs.NEEDS)
    assert all(remedy for _, remedy in needs.NEEDS.values())


def test_hopless_requirement_matches_its_package():
    about = decode.read_toml(files.ROOT / "packages" / "hopless" / "pyproject.toml")["project"]
    least = [about["requires-python"], *about["dependencies"]]
    said = needs.NEEDS["hopless"][1]
    assert all(re.search(r">=([\d.]+)", one)[1] in said for one in least)


def test_server_next_to_python_is_found(tmp_path):
    """A server's command from another Python isn't used, because it would run the project in that Python."""
    assert missing() is None
    assert missing("gunicorn", "uvloop") is None
    said = "gunicorn is not installed: pip install gunicorn; waitress is not installed: pip install waitress"
    assert missing("gunicorn", "waitress", bin=tmp_path) == said
    executable(tmp_path / "gunicorn")
    assert missing("gunicorn", bin=tmp_path) is None


def test_module_is_found_in_servers_python(tmp_path):
    assert missing("uvloop", bin=Path(sys.executable).parent) is None
    (tmp_path / "python").symlink_to("/bin/false")
    assert missing("uvloop", bin=tmp_path) == "uvloop is not installed: pip install uvloop"


def test_system_programs_are_found(machine):
    assert missing("nginx") == "nginx is not installed: apt-get install nginx"
    executable(machine / "sbin/nginx")
    assert missing("nginx") is None


def test_peer_needs_node_with_packages(machine):
    executable(machine / "bin/node")
    assert missing("node-ws") == "node-ws is not installed: make peers, in a clone"
    executable(machine / "peers/ws/node_modules/ws/package.json")
    assert missing("node-ws") is None
    (machine / "bin/node").unlink()
    assert missing("node-ws") == "node-ws is not installed: make peers, in a clone"


def test_mod_wsgi_needs_matching_apache(machine):
    executable(machine / "bin/mod_wsgi-express")
    assert needs.missing_needs(["mod_wsgi"], machine / "bin") == ["mod_wsgi"]
    executable(machine / "bin/apache2")
    assert needs.missing_needs(["mod_wsgi"], machine / "bin") == []


def test_redis_url_satisfies_redis_need(monkeypatch):
    monkeypatch.setattr(redis, "executable", lambda: None)
    monkeypatch.delenv("REDIS_URL", raising=False)
    assert missing("redis").endswith("set REDIS_URL")
    monkeypatch.setenv("REDIS_URL", "redis://localhost")
    assert missing("redis") is None


def test_listening_redis_is_accepted(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(str(tmp_path / "redis.sock"))
        local.listen()
        assert redis.refusal(f"redis://127.0.0.1:{server.getsockname()[1]}/0") is None
        assert redis.refusal(f"unix://{tmp_path}/redis.sock") is None


@pytest.mark.parametrize(
    ("url", "why"), [("redis://127.0.0.1:1", "Connection refused"), ("unix:///nothing", "No such file")]
)
def test_missing_redis_has_a_reason(url, why):
    assert redis.refusal(url).startswith(why)
