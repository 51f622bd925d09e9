"""Test that imports follow the layers in docs/architecture.rst, and limits for files and names."""

import importlib.util
import re

import pytest

from loadtests.files import ROOT

LONGEST = 500  # lines of a file


@pytest.fixture(scope="module")
def architecture():
    spec = importlib.util.spec_from_file_location("architecture", ROOT / "docs" / "_ext" / "architecture.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def imports(architecture):
    return architecture.imports()


def test_every_package_belongs_to_a_layer(architecture, imports):
    layers = [package for layer in architecture.LAYERS for package in layer.packages]
    assert sorted(layers) == sorted(imports)


def test_imports_follow_the_layers(architecture, imports):
    assert architecture.arrows_back(imports) == []


def test_import_of_higher_layer_is_detected(architecture, imports):
    found = {**imports, "plan": {"report": {"loadtests/plan/study.py"}}}
    assert architecture.arrows_back(found) == ["plan imports report: loadtests/plan/study.py"]


def files(*patterns):
    folders = ("loadtests", "testproject", "packages", "tests", "docs/_ext", "supervisor")
    return [file for folder in folders for pattern in patterns for file in (ROOT / folder).rglob(pattern)]


def test_no_file_is_too_long():
    found = files("*.py", "*.js", "*.sh", "*.conf", "*.j2", "*.css")
    long = {str(file.relative_to(ROOT)): lines for file in found if (lines := _lines(file)) > LONGEST}
    assert long == {}


def _lines(file):
    return len(file.read_text(encoding="utf-8").splitlines())


def test_class_names_are_unique():
    found = {}
    for file in sorted((ROOT / "loadtests").rglob("*.py")):
        for name in re.findall(r"^class ([A-Z]\w*)", file.read_text(encoding="utf-8"), re.MULTILINE):
            found.setdefault(name, []).append(str(file.relative_to(ROOT)))
    assert {name: where for name, where in found.items() if len(where) > 1} == {}
