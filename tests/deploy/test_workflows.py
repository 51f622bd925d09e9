"""Test GitHub's workflows, and the action that measures a pull request."""

import re

import pytest

from loadtests.files import ROOT
from tests.fixtures.workflows import ACTION, EXAMPLE, WORKFLOWS, documents, run_step, steps

RELEASE = ROOT / ".github/workflows/release.yml"
WRITES = {
    ("pages.yml", "deploy"): {"pages": "write", "id-token": "write"},
    ("release.yml", "publish"): {"id-token": "write"},
    ("release.yml", "release"): {"contents": "write"},
}


def test_action_declares_exactly_its_inputs():
    [content] = documents(ACTION)
    named = re.findall(r"\{\{ inputs\.([\w-]+) \}\}", ACTION.read_text(encoding="utf-8"))
    assert set(named) == content["inputs"].keys()
    assert all(one["description"] and "default" in one for one in content["inputs"].values())


@pytest.mark.parametrize("file", [ACTION, EXAMPLE, *WORKFLOWS], ids=lambda file: file.name)
def test_commands_contain_no_expression(file):
    """Check that a text from a pull request can't become a command."""
    assert not [one for one in steps(file) if "${{" in one.get("run", "")]


@pytest.mark.parametrize("file", [EXAMPLE, *WORKFLOWS], ids=lambda file: file.name)
def test_jobs_have_few_permissions(file):
    [content] = documents(file)
    assert content["permissions"] == {"contents": "read"}
    for name, job in content["jobs"].items():
        assert job["timeout-minutes"] <= 60
        assert job.get("permissions") == WRITES.get((file.name, name))
        assert {job.get("needs", name)} <= content["jobs"].keys()


def test_example_uses_the_action():
    checkout, action = steps(EXAMPLE)
    assert checkout["uses"].startswith("actions/checkout@")
    assert action == {"uses": f"OWNER/django-serving-benchmark/{ACTION.parent.relative_to(ROOT)}@main"}


@pytest.mark.parametrize("tag", ["v0.1.0", "v9.9"])
def test_tag_must_match_the_version(tmp_path, tag):
    (tmp_path / "work").mkdir()
    (tmp_path / "work/pyproject.toml").write_text('[project]\nname = "a"\nversion = "0.1.0"\n')
    ended = run_step(RELEASE, "Check the tag", tmp_path / "work", GITHUB_REF_NAME=tag)
    says = "" if tag == "v0.1.0" else "The tag must be v0.1.0, as in pyproject.toml, not v9.9\n"
    assert (ended.returncode, ended.stderr) == (bool(says), says)
