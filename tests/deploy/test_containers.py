"""Test the files in deploy/compose and deploy/kubernetes. The tests need no container engine."""

import re
import subprocess

import pytest
import typer

from loadtests.cli import app
from loadtests.files import ROOT
from tests.fixtures.deployed import DEPLOY
from tests.fixtures.workflows import documents


def typed(arguments):
    """Parse the arguments of a loadtests command. Return the command's name and parameters."""
    name, *rest = arguments
    return name, typer.main.get_command(app).commands[name].make_context(name, rest, parent=None).params


@pytest.fixture(scope="module")
def compose():
    return documents(DEPLOY / "compose" / "compose.yaml")[0]


@pytest.fixture(scope="module")
def kubernetes():
    return {(one["kind"], one["metadata"]["name"]): one for one in documents(DEPLOY / "kubernetes" / "load.yaml")}


@pytest.fixture(scope="module")
def pods(kubernetes):
    return {name: one["spec"]["template"] for (kind, name), one in kubernetes.items() if kind == "Job"}


def by_default(text):
    """Replace the variables in a Compose file's text with their default values."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text)


def test_compose_starts_expected_workers(compose):
    run, worker = compose["services"]["run"], compose["services"]["worker"]
    name, given = typed(by_default(run["command"]).split())
    address = run["networks"]["load"]["ipv4_address"]
    assert (name, given["study"], given["setups"]) == ("run", "first-look", "gunicorn")
    assert given["master_bind"] == f"{address}:5557"
    assert str(given["expect_workers"]) == by_default(worker["deploy"]["replicas"])
    assert run["environment"]["BIND"] == address
    assert typed(worker["command"].split()) == ("worker", {"master": f"{address}:5557"})


def test_compose_passes_token_as_file(compose):
    assert all("ports" not in one and "network_mode" not in one for one in compose["services"].values())
    assert compose["networks"]["load"]["internal"] is True
    for name, secret in (("run", "run_token"), ("worker", "workers_token")):
        one = compose["services"][name]
        assert one["secrets"] == [secret]
        assert one["environment"]["LOAD_TOKEN_FILE"] == f"/run/secrets/{secret}"
        assert not {"LOAD_TOKEN", "JOURNEY_PASSWORD"} & one["environment"].keys()
        assert "TOKEN" not in one["command"]
    assert {one["environment"] for one in compose["secrets"].values()} == {"RUN_TOKEN", "WORKERS_TOKEN"}


def test_kubernetes_starts_expected_workers(kubernetes, pods):
    run, worker = (pods[name]["spec"]["containers"][0] for name in ("load-run", "load-workers"))
    name, given = typed(run["args"])
    assert (name, given["study"], given["master_bind"]) == ("run", "first-look", "$(POD_IP):5557")
    workers = kubernetes["Job", "load-workers"]["spec"]
    assert workers["parallelism"] == workers["completions"] == given["expect_workers"]
    assert typed(worker["args"]) == ("worker", {"master": "load-run:5557"})
    service = kubernetes["Service", "load-run"]["spec"]
    assert service["selector"].items() <= pods["load-run"]["metadata"]["labels"].items()
    environment = [one["name"] for one in run["env"]]
    assert environment.index("POD_IP") < environment.index("BIND")  # a value can refer only to earlier variables


def test_kubernetes_reserves_whole_cores(pods):
    for resources in (one["resources"] for pod in pods.values() for one in pod["spec"]["containers"]):
        assert resources["requests"] == resources["limits"]
        assert resources["limits"]["cpu"].isdigit()


def test_kubernetes_master_accepts_only_workers(kubernetes, pods):
    policy = kubernetes["NetworkPolicy", "load-run"]["spec"]
    assert policy["podSelector"]["matchLabels"] == pods["load-run"]["metadata"]["labels"]
    [rule] = policy["ingress"]
    assert rule["from"] == [{"podSelector": {"matchLabels": pods["load-workers"]["metadata"]["labels"]}}]
    assert [one["port"] for one in rule["ports"]] == [5557, 8000]
    closed = kubernetes["NetworkPolicy", "load-workers"]["spec"]
    assert closed["podSelector"]["matchLabels"] == pods["load-workers"]["metadata"]["labels"]
    assert "ingress" not in closed
    assert "egress" not in policy
    assert policy["policyTypes"] == closed["policyTypes"] == ["Ingress", "Egress"]
    master, names = closed["egress"]
    assert master["to"] == [{"podSelector": {"matchLabels": pods["load-run"]["metadata"]["labels"]}}]
    assert {one["port"] for one in names["ports"]} == {53}


def test_kubernetes_runs_without_root(pods):
    for name, pod in pods.items():
        spec, first = pod["spec"], pod["spec"]["containers"][0]
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["automountServiceAccountToken"] is False
        assert all(one["securityContext"]["capabilities"] == {"drop": ["ALL"]} for one in spec["containers"])
        where = {one["name"]: one["mountPath"] for one in first["volumeMounts"]}
        environment = {one["name"]: one.get("value") for one in first["env"]}
        assert environment["LOAD_TOKEN_FILE"] == f"{where['token']}/token"
        assert "LOAD_TOKEN" not in environment
        [secret] = [one["secret"]["secretName"] for one in spec["volumes"] if "secret" in one]
        assert secret == f"{name}-token"


def test_wheel_includes_pythonpath_folders():
    included = (ROOT / "pyproject.toml").read_text()
    for file in (ROOT / "supervisor" / "conf.d").glob("*.conf"):
        for folder in re.findall(r'PYTHONPATH="%\(here\)s/../../([^"]+)"', file.read_text()):
            assert f'"{folder}"' in included


def test_slim_image_keeps_needed_files(tmp_path):
    packages = tmp_path / "lib" / "python3.13" / "site-packages"
    kept = {"django/test/client.py", "django/locale/de/django.mo", "scipy.libs/a.so", "a/b.py", "autobahn/nvx/a.c"}
    unused = {"a/tests/b.py", "twisted/web/test/a.py", "django/locale/de/django.po", "a/b.pyi", "a/b.pyx", "a/b.a"}
    for name in kept | unused:
        (packages / name).parent.mkdir(parents=True, exist_ok=True)
        (packages / name).touch()
    subprocess.run([DEPLOY / "slim.sh", tmp_path], check=True)
    assert {str(one.relative_to(packages)) for one in packages.rglob("*") if one.is_file()} == kept
