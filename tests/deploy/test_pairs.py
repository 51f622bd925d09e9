"""Test the scripts in deploy/cloud and deploy/vagrant with stand-ins for OpenTofu, Vagrant, ssh and git.

The tests need neither a cloud account nor virtual machines.
"""

import re
import shutil
import subprocess

import pytest

from loadtests.files import ROOT
from tests.fixtures.deployed import DEPLOY, DeployedPair, require_posix

SCRIPTS = [script for folder in ("cloud", "vagrant", ".") for script in sorted((DEPLOY / folder).glob("*.sh"))]
TOFU = "case $* in *output*client) printf 203.0.113.5 ;; *output*server) printf 10.99.0.7 ;; esac"
VAGRANT = """case $* in
    up) : > "$VAGRANT_DOTFILE_PATH/noted" ;;
    ssh-config) echo "Host client" ;;
    *refused*) exit 1 ;;
esac"""


class CloudPair(DeployedPair):
    """A copy of the project with the scripts for a pair of cloud instances."""

    program, says, server, runs = "tofu", "cloud", "ssh://ubuntu@10.99.0.7", "results/cloud-2"

    def __init__(self, folder):
        super().__init__(folder, "cloud", "cloud-2026")
        self.state = self.project / ".cloud"
        self.stand_in("tofu", TOFU)
        self.stand_in("ssh-add", "")
        self.stand_in("curl", "printf 198.51.100.9")
        key = folder / "key.pub"
        key.write_text("ssh-ed25519 AAAA me\n")
        self.environment["CLOUD_KEY"] = str(key)

    def make(self):
        """Create the files that OpenTofu writes when it creates the pair."""
        self.state.mkdir()
        (self.state / "pair.tfstate").write_text("{}")
        (self.state / "pair.tfvars").write_text("")


class VirtualPair(DeployedPair):
    """A copy of the project with the scripts for a pair of virtual machines."""

    program, says, server, runs = "vagrant", "vm", "ssh://vagrant@192.168.57.12", "results/vm-2"

    def __init__(self, folder):
        super().__init__(folder, "vagrant", "vm-2026")
        self.state = self.project / ".vagrant" / "pair"
        self.stand_in("vagrant", VAGRANT)

    def make(self):
        """Run ``up.sh``, and require its success."""
        done = self.run("up.sh")
        assert done.returncode == 0, done.stderr
        return done


@pytest.fixture(params=[CloudPair, VirtualPair], ids=lambda kind: kind.says)
def pair(request, tmp_path):
    return request.param(tmp_path)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_pair_scripts_are_posix_shell(script):
    require_posix(script, sourced=("common.sh", "pair.sh"))


def test_cloud_pair_is_created_once(tmp_path):
    pair = CloudPair(tmp_path)
    done = pair.run("up.sh")
    assert done.returncode == 0, done.stderr
    variables = (pair.state / "pair.tfvars").read_text()
    assert 'caller = "198.51.100.9"\n' in variables
    assert 'public_key = "ssh-ed25519 AAAA me"\n' in variables
    assert "region" not in variables
    assert "apply -input=false -auto-approve" in pair.calls()
    assert "costs money until: make cloud-down" in done.stdout
    (pair.state / "pair.tfstate").write_text("{}")  # OpenTofu would write this file when it creates the pair
    again = pair.run("up.sh")
    assert (again.returncode, again.stderr) == (1, "cloud: there is a pair, or a part of one: make cloud-down first\n")


def test_server_authorizes_client_key(tmp_path):
    pair = VirtualPair(tmp_path)
    assert "make vm-down" in pair.make().stdout
    assert (pair.state / "noted").exists()
    assert (pair.state / "ssh_config").read_text() == "Host client\n"
    assert (pair.folder / "authorized").read_text() == "ssh-ed25519 AAAA client\n"


@pytest.mark.parametrize("status", [0, 3])
def test_results_are_fetched_after_failure(pair, status):
    pair.make()
    pair.ssh_ends_with(status)
    done = pair.run("bench.sh", "my study's $(reboot).toml")
    assert done.returncode == status, done.stderr
    [line] = [line for line in pair.calls().splitlines() if "loadtests run" in line]
    assert f" run 'my study'\\''s $(reboot).toml' --servers {pair.server} --output {pair.runs}" in line
    assert pair.fetched.exists()


def test_scripts_fail_without_a_pair(pair):
    for name, arguments in (("bench.sh", ["first-look"]), ("down.sh", [])):
        done = pair.run(name, *arguments)
        assert done.returncode == 1
        assert done.stderr.startswith(f"{pair.says}: there is no pair")
    assert not pair.log.exists()


def test_pair_state_is_removed_after_deletion(pair):
    pair.make()
    pair.stand_in(pair.program, "exit 1")
    assert pair.run("down.sh").returncode == 1
    assert pair.state.exists()
    pair.stand_in(pair.program, "")
    assert pair.run("down.sh").returncode == 0
    assert not pair.state.exists()


def test_ssh_is_limited_to_the_caller():
    text = (DEPLOY / "cloud" / "main.tf").read_text()
    assert text.count('"0.0.0.0/0"') == 2  # two egress rules
    assert 'cidr_blocks = ["${var.caller}/32"]' in text
    assert 'instance_initiated_shutdown_behavior = "terminate"' in text
    assert "shutdown -h +" in text


MADE_THERE = ("results/mine/run.json", ".venv/bin/python", "node_modules/a/index.js", "generators/k6")
needs_rsync = pytest.mark.skipif(shutil.which("rsync") is None, reason="rsync is not installed")


def written(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{name} of {folder.name}")
    return folder


@needs_rsync
def test_rsync_keeps_files_created_on_guest(tmp_path):
    """Run rsync with the arguments in the Vagrantfile, in the same way as Vagrant."""
    host = written(tmp_path / "host", "README.md", "results/reference/run.json")
    guest = written(tmp_path / "guest", "removed.py", *MADE_THERE)
    text = (ROOT / "Vagrantfile").read_text()
    options = re.search(r"rsync__args: \[(.*)\]", text)[1], re.search(r"rsync__exclude: \[(.*)\]", text)[1]
    arguments, excluded = (re.findall(r'"([^"]*)"', option) for option in options)
    excludes = [f"--exclude={name}" for name in excluded]
    subprocess.run(["rsync", *arguments, *excludes, f"{host}/", f"{guest}/"], check=True)
    found = {str(file.relative_to(guest)) for file in guest.rglob("*") if file.is_file()}
    assert found == {"README.md", "results/reference/run.json", *MADE_THERE}


@needs_rsync
def test_local_runs_are_not_replaced(tmp_path):
    pair = VirtualPair(tmp_path)
    guest = written(tmp_path / "guest", "results/reference/run.json", *MADE_THERE)
    written(pair.project, "results/reference/run.json")
    pair.stand_in("vagrant", "echo Host default")
    # rsync calls: ssh -F FILE default rsync --server ... /vagrant/results/
    pair.stand_in("ssh", f'shift 3; exec $(echo "$@" | sed s,/vagrant,{guest},)')
    found = pair.run("results.sh")
    assert found.returncode == 0, found.stderr
    assert (pair.project / "results/mine/run.json").read_text() == "results/mine/run.json of guest"
    assert (pair.project / "results/reference/run.json").read_text() == "results/reference/run.json of project"
