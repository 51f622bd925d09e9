"""The scripts of deploy/vagrant, with stand-ins for Vagrant, ssh and git: what they ask for. No machine is made."""

import pytest

from tests.fixtures.deployed import DEPLOY, DeployedPair, require_posix

SCRIPTS = [*sorted((DEPLOY / "vagrant").glob("*.sh")), DEPLOY / "pair.sh"]
VAGRANT = """case $* in
    up) : > "$VAGRANT_DOTFILE_PATH/noted" ;;
    ssh-config) echo "Host client" ;;
    *refused*) exit 1 ;;
esac"""


class VirtualPair(DeployedPair):
    """Of virtual machines."""

    def __init__(self, folder):
        super().__init__(folder, "vagrant", "vm-2026")
        self.state = self.project / ".vagrant" / "pair"
        self.stand_in("vagrant", VAGRANT)


@pytest.fixture
def virtual_pair(tmp_path):
    return VirtualPair(tmp_path)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_a_script_is_one_for_any_posix_shell(script):
    require_posix(script, sourced=("common.sh", "pair.sh"))


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
    [line] = [line for line in virtual_pair.calls().splitlines() if "loadtests run" in line]
    assert " run 'first-look' --servers ssh://vagrant@192.168.57.12 --output results/vm-2" in line
    assert virtual_pair.fetched.exists()


def test_what_a_failed_run_left_is_fetched_and_its_failure_reported(virtual_pair):
    virtual_pair.run("up.sh")
    virtual_pair.ssh_ends_with(3)
    assert virtual_pair.run("bench.sh", "first-look").returncode == 3
    assert virtual_pair.fetched.exists()


def test_a_step_that_fails_ends_it(virtual_pair):
    virtual_pair.run("up.sh")
    virtual_pair.stand_in("ssh", "cat > /dev/null; exit 4")
    assert virtual_pair.run("bench.sh", "first-look").returncode == 4
    assert "loadtests run" not in virtual_pair.calls()


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
