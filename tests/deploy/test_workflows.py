"""Test GitHub's workflows, and the action that measures a pull request."""

import re

import pytest

from tests.fixtures.workflows import ACTION, EXAMPLE, WORKFLOWS, documents, steps

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
