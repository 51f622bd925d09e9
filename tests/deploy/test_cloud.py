"""The scripts of deploy/cloud, with stand-ins for OpenTofu, ssh and git: what they ask for. No account is needed."""

import shutil
import subprocess

import pytest

from tests.fixtures.deployed import DEPLOY, DeployedPair, require_posix

CLOUD = DEPLOY / "cloud"
SCRIPTS = sorted(CLOUD.glob("*.sh"))
TOFU = "case $* in *output*client) printf 203.0.113.5 ;; *output*server) printf 10.99.0.7 ;; esac"


class CloudPair(DeployedPair):
    """Of instances."""

    def __init__(self, folder):
        super().__init__(folder, "cloud", "cloud-2026")
        self.stand_in("tofu", TOFU)
        self.stand_in("ssh-add", "")
        self.stand_in("curl", "printf 198.51.100.9")
        key = folder / "key.pub"
        key.write_text("ssh-ed25519 AAAA me\n")
        self.environment["CLOUD_KEY"] = str(key)

    def make(self):
        """It is there already."""
        state = self.project / ".cloud"
        state.mkdir()
        (state / "pair.tfstate").write_text("{}")
        (state / "pair.tfvars").write_text("")


@pytest.fixture
def pair(tmp_path):
    return CloudPair(tmp_path)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_a_script_is_one_for_any_posix_shell(script):
    require_posix(script, sourced=("common.sh",))


def test_the_pair_is_made_for_whoever_asks_and_says_that_it_costs(pair):
    done = pair.run("up.sh")
    assert done.returncode == 0, done.stderr
    variables = (pair.project / ".cloud" / "pair.tfvars").read_text()
    assert 'caller = "198.51.100.9"\n' in variables
    assert 'public_key = "ssh-ed25519 AAAA me"\n' in variables
    assert "region" not in variables
    assert "apply -input=false -auto-approve" in pair.calls()
    assert "costs money until: make cloud-down" in done.stdout


def test_a_second_pair_is_not_made_next_to_the_first(pair):
    pair.make()
    done = pair.run("up.sh")
    assert (done.returncode, done.stderr) == (
        1, "cloud: there is a pair, or a part of one: make cloud-down first\n"
    )  # fmt: skip


def test_a_study_of_any_name_is_one_word_over_there(pair):
    pair.make()
    done = pair.run("bench.sh", "my study's $(reboot).toml")
    assert done.returncode == 0, done.stderr
    [line] = [line for line in pair.calls().splitlines() if "loadtests run" in line]
    assert " run 'my study'\\''s $(reboot).toml' --servers ssh://ubuntu@10.99.0.7 --output results/cloud-2" in line
    assert pair.fetched.exists()


def test_what_a_failed_run_left_is_fetched_and_its_failure_reported(pair):
    pair.make()
    pair.ssh_ends_with(3)
    done = pair.run("bench.sh", "first-look")
    assert done.returncode == 3
    assert pair.fetched.exists()


def test_without_a_pair_nothing_is_asked_of_anybody(pair):
    for name, arguments in (("bench.sh", ["first-look"]), ("down.sh", [])):
        done = pair.run(name, *arguments)
        assert done.returncode == 1
        assert done.stderr.startswith("cloud: there is no pair")
    assert not pair.log.exists()


def test_what_was_made_is_forgotten_only_when_it_is_gone(pair):
    pair.make()
    pair.stand_in("tofu", "exit 1")
    assert pair.run("down.sh").returncode == 1
    assert (pair.project / ".cloud" / "pair.tfstate").exists()
    pair.stand_in("tofu", "")
    assert pair.run("down.sh").returncode == 0
    assert not (pair.project / ".cloud").exists()


def test_the_configuration_is_formatted():
    tofu = shutil.which("tofu") or shutil.which("terraform")
    if tofu is None:
        pytest.skip("neither tofu nor terraform is installed")
    done = subprocess.run([tofu, "fmt", "-check", "-diff", str(CLOUD)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout


def test_ssh_is_let_in_from_the_caller_alone_and_instances_end_themselves():
    text = (CLOUD / "main.tf").read_text()
    assert text.count('"0.0.0.0/0"') == 2  # the way out, twice
    assert 'cidr_blocks = ["${var.caller}/32"]' in text
    assert 'instance_initiated_shutdown_behavior = "terminate"' in text
    assert "shutdown -h +" in text
