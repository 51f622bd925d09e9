"""The way to another machine: addresses, how ssh is called, and what is said where it leads nowhere."""

import os
import subprocess
import sys

import msgspec
import pytest

from loadtests import hosts
from loadtests.errors import UserError
from loadtests.files import ROOT
from loadtests.hosts import wire
from loadtests.hosts.link import Address, failure
from loadtests.measure.bench import make_bench
from loadtests.plan import study as studies
from loadtests.setups.application import sample


def last(errors):
    """The last line of what was printed as an error; those before it tell what was done."""
    return errors.splitlines()[-1]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("python3.99: No such file\nmake: *** [Makefile:26: .venv/.ready] Error 127", "python3.99: No such file"),
        ("no Python\nmake[1]: *** [Makefile:26: .venv] Error 1\nmake[1]: Leaving directory '/a'", "no Python"),
        ("make: *** No rule to make target 'setup'.  Stop.", "make: *** No rule to make target 'setup'.  Stop."),
        ("collecting\nmake: *** [Makefile:30: .venv] Killed", "make: *** [Makefile:30: .venv] Killed"),
        (
            "tar: a: No space left on device\ntar: Exiting with failure status",
            "tar: a: No space left on device",
        ),
        ("make: *** [Makefile:26: .venv/.ready] Error 1", "make: *** [Makefile:26: .venv/.ready] Error 1"),
        ("", "it ended with 2 and said nothing"),
        (f"mkdir: {'a' * 200}: No space left on device", f"...{'a' * 75}: No space left on device"),
    ],
)
def test_the_reason_is_reported_and_not_what_was_said_after_it(said, why):
    assert str(failure(Address.parse("other"), 2, said)) == f"ssh://other: {why}"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("other", ("other", None, None)),
        ("bench@other.example", ("other.example", "bench", None)),
        ("bench@10.0.0.2:2222", ("10.0.0.2", "bench", 2222)),
        ("[fd00::2]", ("fd00::2", None, None)),
        ("bench@[fe80::1%eth0]:22", ("fe80::1%eth0", "bench", 22)),
    ],
)
def test_an_address_is_a_host_with_a_user_and_a_port_where_they_are_said(text, parts):
    address = Address.parse(text)
    assert (address.host, address.user, address.port) == parts
    assert str(address) == f"ssh://{text}"


@pytest.mark.parametrize(
    "text",
    ["", "-oProxyCommand=x", "a b", "fd00::2", "other:0", "other:65536", "other/path", "-l@other", "a@b@c", "x;y"],
)
def test_what_is_no_address_is_refused(text):
    with pytest.raises(UserError, match=r"write ssh://user@host or ssh://user@host:port, IPv6 in brackets$"):
        hosts.at(f"ssh://{text}")


def test_ssh_shares_no_connection_forwards_nothing_and_asks_nobody(monkeypatch):
    monkeypatch.setenv("SSH_COMMAND", "my-ssh -F 'a file'")
    command = Address.parse("bench@[fd00::2]:2222").command("echo 'it'")
    assert command[:3] == ["my-ssh", "-F", "a file"]
    options = {command[place + 1] for place, word in enumerate(command) if word == "-o"}
    assert {"ControlMaster=no", "ControlPath=none", "ClearAllForwardings=yes", "BatchMode=yes"} <= options
    assert any(option.startswith("ServerAliveInterval=") for option in options)
    assert command[-7:-1] == ["-l", "bench", "-p", "2222", "--", "fd00::2"]
    said = subprocess.run(["sh", "-c", command[-1]], capture_output=True, text=True).stdout
    assert said == "it\n"


def test_what_a_shell_prints_before_the_first_word_is_one_clear_line(command, other_machine):
    (other_machine.folder / "prints").write_text("Welcome to this machine!\nHave a lot of fun\n")
    code, printed, errors = command("hosts", "check", other_machine.where)
    assert (code, printed) == (1, "")
    assert last(errors) == (
        f"error: {other_machine.where}: something there prints before the harness can speak (Welcome to this "
        "machine!): what a shell prints when it starts (.bashrc) must be for terminals only"
    )


def test_a_machine_that_was_not_prepared_is_named_with_how_to(command, other_machine):
    code, printed, errors = command("hosts", "check", other_machine.where)
    assert (code, printed) == (1, "")
    assert last(errors).startswith(f"error: {other_machine.where} is not prepared; prepare it: ")
    assert errors.endswith(f"hosts prepare {other_machine.where}\n")


@pytest.mark.parametrize("command_name", ["prepare", "check"])
@pytest.mark.parametrize("folder", [".", "tree"])
def test_files_that_others_may_write_are_not_run(command, other_machine, folder, command_name):
    tree = other_machine.files / "tree"
    tree.mkdir(parents=True)
    (other_machine.files / "marker.json").write_text("{}")
    (other_machine.files / folder).chmod(0o777)
    code, printed, errors = command("hosts", command_name, other_machine.where)
    assert (code, printed) == (1, "")
    assert last(errors).startswith(f"error: {other_machine.where}: ")
    assert last(errors).endswith("whose files are run: remove it there, and prepare it again")
    assert not list(tree.iterdir())


@pytest.mark.parametrize(
    ("said", "reported"),
    [
        ("@@@@@\nHost key verification failed.\n", "Look whether its key is the one you know"),
        ("bench@other: Permission denied (publickey).\n", "A key that needs no password is needed"),
        ("ssh: connect to host other port 22: Connection refused\n", "Connection refused"),
    ],
)
def test_why_ssh_failed_is_one_line(command, other_machine, said, reported):
    (other_machine.folder / "refuses").write_text(said)
    for asked in ("check", "prepare"):
        code, printed, errors = command("hosts", asked, other_machine.where)
        assert (code, printed) == (1, "")
        assert last(errors).startswith("error: ")
        assert said.splitlines()[-1] in last(errors)
        assert reported in last(errors)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--app", "."], "has the sample project only; leave out --servers, or --app"),
        (["--setups", "no-such"], "no-such"),
    ],
)
def test_what_cannot_run_there_is_refused_before_anybody_is_asked(command, other_machine, options, why):
    code, printed, errors = command("run", "first-look", "--servers", other_machine.where, *options)
    assert (code, printed, errors.count("\n")) == (1, "", 1)
    assert why in errors
    assert other_machine.calls() == []


def test_the_origin_stays_on_this_machine(other_machine):
    table = {"setups": ["gunicorn"], "tests": {"latency": {"rate": 1, "duration": "1s", "services": ["origin"]}}}
    with pytest.raises(UserError, match=r"^test latency: the service origin is for projects that are served on this"):
        make_bench(studies.parse(table, "s", "s.toml"), sample(), other_machine.where)
    assert other_machine.calls() == []


def test_load_that_stays_here_is_not_allowed_to_go_elsewhere(command):
    code, _, errors = command("run", "first-look", "--allow-remote")
    assert code == 1
    assert errors == "error: --allow-remote is for servers on another machine; name it: --servers ssh://user@host\n"


def test_a_message_is_read_in_whatever_pieces_it_comes():
    reading, writing = os.pipe()
    reader = wire.MessageReader(reading)
    call = wire.AgentCall(7, "calibrate", {"core": 1})
    line = msgspec.json.encode(call) + b"\n"
    os.write(writing, line[:3])
    with pytest.raises(TimeoutError):
        reader.next(wire.AgentCall, 0.01)
    os.write(writing, line[3:])
    wire.write(writing, call)
    assert reader.next(wire.AgentCall, 1) == reader.next(wire.AgentCall, 1) == call
    os.write(writing, b"Connection to other closed.\n")
    with pytest.raises(wire.NotAMessage, match=r"^Connection to other closed\.$"):
        reader.next(wire.AgentCall, 1)
    os.close(writing)
    with pytest.raises(EOFError):
        reader.next(wire.AgentCall, 1)
    os.close(reading)


SILENT = """
import sys
from loadtests.hosts import wire
wire.SILENCE_S = 0.5
from loadtests.hosts.agent.answering import Answering, ClientGone
answering = Answering(0, 1)
try:
    answering.begin()
    print("begun", flush=True)
    answering.answer(None)
except ClientGone:
    print("gone", flush=True)
"""


def test_an_agent_that_hears_nothing_for_a_while_ends():
    """With the network cut, its standard input stays open for hours."""
    process = subprocess.Popen(
        [sys.executable, "-c", SILENT], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "begun\n"
        assert process.stdout.readline() == "gone\n"
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.communicate()
