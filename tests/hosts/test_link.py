"""Test the connection to another machine: addresses, ssh commands, proofs of identity, and errors."""

import contextlib
import subprocess
import sys

import pytest

from loadtests import hosts
from loadtests.errors import UserError
from loadtests.files import ROOT
from loadtests.hosts import network
from loadtests.hosts.link import Address, failure
from loadtests.hosts.proof import ProofServer
from loadtests.measure.bench import make_bench
from loadtests.plan import study as studies
from loadtests.setups.application import sample
from tests.fixtures.other_machine import OtherMachine


@pytest.fixture
def last_line(command, other_machine):
    """Return a function that runs a command, which must fail and print nothing to standard output.

    The function returns the last error line, which contains the reason. Earlier lines describe the progress.
    """

    def last_line(*arguments):
        code, printed, errors = command(*arguments)
        assert (code, printed) == (1, "")
        return errors.splitlines()[-1]

    return last_line


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("python3.99: No such file\nmake: *** [Makefile:26: .venv/.ready] Error 127", "python3.99: No such file"),
        ("", "the command ended with status 2 and no message"),
    ],
)
def test_reason_is_found_in_output(said, why):
    assert str(failure(Address.parse("other"), 2, said)) == f"ssh://other: {why}"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("other", ("other", None, None)),
        ("bench@10.0.0.2:2222", ("10.0.0.2", "bench", 2222)),
        ("bench@[fe80::1%eth0]:22", ("fe80::1%eth0", "bench", 22)),
    ],
)
def test_address_parts_are_optional(text, parts):
    address = Address.parse(text)
    assert (address.host, address.user, address.port) == parts
    assert str(address) == f"ssh://{text}"


@pytest.mark.parametrize(
    "text",
    ["", "-oProxyCommand=x", "a b", "fd00::2", "other:65536", "-l@other", "x;y"],
)
def test_invalid_address_is_refused(text):
    with pytest.raises(UserError, match=r"write ssh://user@host or ssh://user@host:port \(IPv6 in brackets\)$"):
        hosts.at(f"ssh://{text}")


def test_ssh_uses_only_safe_options(monkeypatch):
    monkeypatch.setenv("SSH_COMMAND", "my-ssh -F 'a file'")
    command = Address.parse("bench@[fd00::2]:2222").command("echo 'it'")
    assert command[:3] == ["my-ssh", "-F", "a file"]
    options = dict(command[place + 1].split("=") for place, word in enumerate(command) if word == "-o")
    needed = {"ControlMaster": "no", "ControlPath": "none", "ClearAllForwardings": "yes", "BatchMode": "yes"}
    assert needed.items() <= options.items()
    assert "ServerAliveInterval" in options
    assert [name for name in options if "HostKey" in name or "KnownHosts" in name] == []
    assert command[-7:-1] == ["-l", "bench", "-p", "2222", "--", "fd00::2"]
    said = subprocess.run(["sh", "-c", command[-1]], capture_output=True, text=True).stdout
    assert said == "it\n"


def test_shell_output_is_one_clear_line(last_line, other_machine):
    (other_machine.folder / "prints").write_text("Welcome to this machine!\nHave a lot of fun\n")
    assert last_line("hosts", "check", other_machine.where) == (
        f"error: {other_machine.where}: a program printed text before the agent answered (Welcome to this "
        "machine!). Change the startup files of the shell (.bashrc) so that they print text only in terminals"
    )


def test_unprepared_machine_error_has_remedy(last_line, other_machine):
    says = last_line("hosts", "check", other_machine.where)
    assert says.startswith(f"error: {other_machine.where} is not prepared. Run ")
    assert says.endswith(f"hosts prepare {other_machine.where}")


@pytest.mark.parametrize(("command_name", "folder"), [("prepare", "."), ("check", "tree")])
def test_world_writable_files_are_not_run(last_line, other_machine, folder, command_name):
    tree = other_machine.files / "tree"
    tree.mkdir(parents=True)
    (other_machine.files / "marker.json").write_text("{}")
    (other_machine.files / folder).chmod(0o777)
    says = last_line("hosts", command_name, other_machine.where)
    assert says.startswith(f"error: {other_machine.where}: ")
    assert says.endswith("or its virtual environment. Remove the folder, and prepare the machine again")
    assert not list(tree.iterdir())


@pytest.mark.parametrize(
    ("said", "reported"),
    [
        ("@@@@@\nHost key verification failed.\n", "Check the machine's host key"),
        ("bench@other: Permission denied (publickey).\n", "SSH needs a key that works without a prompt"),
    ],
)
def test_ssh_failure_is_one_clear_error(last_line, other_machine, said, reported):
    (other_machine.folder / "refuses").write_text(said)
    says = last_line("hosts", "check", other_machine.where)
    assert says.startswith("error: ")
    assert said.splitlines()[-1] in says
    assert reported in says


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (
            ["--servers", OtherMachine.where, "--app", "."],
            "only serves the sample project. Leave out --servers, or --app",
        ),
        (
            ["--allow-remote"],
            "--allow-remote only works with servers on another machine. Add --servers ssh://user@host",
        ),
    ],
)
def test_unsupported_options_are_refused_early(refused, other_machine, options, why):
    assert why in refused("run", "first-look", *options)
    assert other_machine.calls() == []


def test_origin_requires_local_servers(other_machine):
    table = {"setups": ["gunicorn"], "tests": {"latency": {"rate": 1, "duration": "1s", "services": ["origin"]}}}
    with pytest.raises(UserError, match=r"^test latency: the service origin only works for servers on this"):
        make_bench(studies.parse(table, "s", "s.toml"), sample(), other_machine.where)
    assert other_machine.calls() == []


SILENT = """
import sys
from loadtests.hosts import wire
wire.SILENCE_S = 0.5
from loadtests.hosts.agent.main import Answering, ClientGone
answering = Answering(0, 1)
try:
    answering.begin()
    print("begun", flush=True)
    answering.answer(None)
except ClientGone:
    print("gone", flush=True)
"""


def test_silent_connection_ends_the_agent():
    """If the network is cut, the agent must notice the silence, because its standard input stays open for hours."""
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


def test_wrong_token_means_another_host(free_port):
    with (
        contextlib.closing(ProofServer("the token", "127.0.0.1", free_port)),
        pytest.raises(UserError, match=r"^127\.0\.0\.1:\d+ belongs to a different host than ssh://other$"),
    ):
        network.look("ssh://other", ("127.0.0.1", free_port), "another token", "10.0.0.1")


def test_closed_firewall_error_has_remedy(free_port):
    with pytest.raises(UserError, match=r"although SSH works. .*sudo ufw allow proto tcp from 10\.0\.0\.1 to any port"):
        network.look("ssh://other", ("127.0.0.1", free_port), "the token", "10.0.0.1")
