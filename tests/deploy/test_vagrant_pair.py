"""The scripts of deploy/vagrant, with stand-ins for Vagrant, ssh and git: what they ask for. No machine is made."""

import os
import shutil
import subprocess
import tarfile

import pytest

from loadtests.paths import ROOT

DEPLOY = ROOT / "deploy"
SCRIPTS = [*sorted((DEPLOY / "vagrant").glob("*.sh")), DEPLOY / "pair.sh"]
SOURCED = ("common.sh", "pair.sh")
STAND_IN = """#!/bin/sh
printf '%s\\n' "{name} $*" >> "{log}"
{does}
"""
VAGRANT = """case $* in
    up) : > "$VAGRANT_DOTFILE_PATH/noted" ;;
    ssh-config) echo "Host client" ;;
    *refused*) exit 1 ;;
esac"""
SSH = """for command; do :; done
case $command in
    *"loadtests run"*) exit {status} ;;
    "tar -C bench"*) cat "{folder}/fetched.tar" ;;
    cat*client.pub*) cat >> "{folder}/authorized" ;;
    *id_ed25519.pub) echo "ssh-ed25519 AAAA client" ;;
    cat*) cat > /dev/null ;;
esac
"""


class VirtualPair:
    """A project in a folder of its own, with the stand-ins on its PATH."""

    def __init__(self, folder):
        self.folder = folder
        self.project = folder / "project"
        self.state = self.project / ".vagrant" / "pair"
        self.log = folder / "log"
        self.bin = folder / "bin"
        self.bin.mkdir()
        shutil.copytree(DEPLOY, self.project / "deploy")
        self.stand_in("vagrant", VAGRANT)
        self.stand_in("git", "")
        self.ssh_ends_with(0)
        (folder / "run.json").write_text("{}")
        with tarfile.open(folder / "fetched.tar", "w") as tar:
            tar.add(folder / "run.json", "results/vm-2026/run.json")

    def stand_in(self, name, does):
        file = self.bin / name
        file.write_text(STAND_IN.format(name=name, log=self.log, does=does))
        file.chmod(0o755)

    def ssh_ends_with(self, status):
        self.stand_in("ssh", SSH.format(status=status, folder=self.folder))

    def run(self, name, *arguments):
        env = {**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}"}
        script = self.project / "deploy" / "vagrant" / name
        return subprocess.run([script, *arguments], env=env, capture_output=True, text=True, timeout=60)

    def asked(self):
        return self.log.read_text()


@pytest.fixture
def virtual_pair(tmp_path):
    return VirtualPair(tmp_path)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_a_script_is_one_for_any_posix_shell(script):
    subprocess.run(["sh", "-n", str(script)], check=True)
    if script.name not in SOURCED:
        assert script.read_text().startswith("#!/bin/sh\n")
        assert script.stat().st_mode & 0o111


def test_the_pair_is_made_and_the_client_let_in_at_the_server(virtual_pair):
    done = virtual_pair.run("up.sh")
    assert done.returncode == 0, done.stderr
    assert (virtual_pair.state / "noted").exists()
    assert (virtual_pair.state / "ssh_config").read_text() == "Host client\n"
    assert (virtual_pair.folder / "authorized").read_text() == "ssh-ed25519 AAAA client\n"
    assert "make vm-down" in done.stdout


def test_a_study_is_run_from_the_client_and_its_folder_fetched(virtual_pair):
    virtual_pair.run("up.sh")
    done = virtual_pair.run("bench.sh", "first-look")
    assert done.returncode == 0, done.stderr
    [line] = [line for line in virtual_pair.asked().splitlines() if "loadtests run" in line]
    assert " run 'first-look' --servers ssh://vagrant@192.168.57.12 --output results/vm-2" in line
    assert (virtual_pair.project / "results" / "vm-2026" / "run.json").exists()


def test_what_a_failed_run_left_is_fetched_and_its_failure_told(virtual_pair):
    virtual_pair.run("up.sh")
    virtual_pair.ssh_ends_with(3)
    assert virtual_pair.run("bench.sh", "first-look").returncode == 3
    assert (virtual_pair.project / "results" / "vm-2026" / "run.json").exists()


def test_a_step_that_fails_ends_it(virtual_pair):
    virtual_pair.run("up.sh")
    virtual_pair.stand_in("ssh", "cat > /dev/null; exit 4")
    assert virtual_pair.run("bench.sh", "first-look").returncode == 4
    assert "loadtests run" not in virtual_pair.asked()


def test_without_a_pair_nothing_is_asked_of_anybody(virtual_pair):
    for name, arguments in (("bench.sh", ["first-look"]), ("down.sh", [])):
        done = virtual_pair.run(name, *arguments)
        assert done.returncode == 1
        assert done.stderr.startswith("vm: there is no pair")
    assert not virtual_pair.log.exists()


def test_the_pair_is_forgotten_only_when_it_is_gone(virtual_pair):
    virtual_pair.run("up.sh")
    virtual_pair.stand_in("vagrant", "exit 1")
    assert virtual_pair.run("down.sh").returncode == 1
    assert virtual_pair.state.exists()
    virtual_pair.stand_in("vagrant", "")
    assert virtual_pair.run("down.sh").returncode == 0
    assert not virtual_pair.state.exists()


def test_the_addresses_of_the_scripts_are_those_of_the_machines():
    machines = (DEPLOY / "vagrant" / "Vagrantfile").read_text()
    assert '"server" => "192.168.57.12"' in machines
    assert "\nserver=192.168.57.12 " in (DEPLOY / "vagrant" / "common.sh").read_text()
