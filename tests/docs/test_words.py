"""Test that old terms, which docs/glossary.rst replaces, aren't used again."""

import ast
import re
from pathlib import Path

import pytest

from loadtests.files import ROOT

REPLACED = {
    "told": "reported, or significantly different",
    "beside": "next to, or supporting service",
    "lateness": "scheduling delay",
    "wanders?": "drift",
    "by turns": "interleaved",
    "so many": "a number",
    "bears": "sustains",
    "at its end": "saturated",
}
NAMES = {"asked", "beside", "held", "made", "said", "seen", "told", "wanted"}
THIS = Path(__file__).resolve()
CONTAIN_THE_WORDS = {THIS, ROOT / "tools/plain.py"}
FOLDERS = {
    "loadtests": (".py", ".js", ".ts", ".toml"),
    "testproject": (".py",),
    "tools": (".py",),
    "supervisor": (".conf", ".sh"),
    "docs": (".rst",),
    "packages": (".py", ".md"),
    "tests": (".py", ".js"),
}


def files():
    for folder, endings in FOLDERS.items():
        for file in sorted((ROOT / folder).rglob("*")):
            # docs/results and docs/_build contain the texts of committed runs, which never change.
            folders = file.relative_to(ROOT).parts[1:-1]
            if file.suffix in endings and not {"_build", "results"} & set(folders) and file not in CONTAIN_THE_WORDS:
                yield file
    yield ROOT / "README.md"


@pytest.mark.parametrize("word", REPLACED)
def test_replaced_term_is_not_used(word):
    in_names_as_well = word.replace(" ", "[ _]")
    pattern = re.compile(rf"(?<![a-z]){in_names_as_well}(?![a-z])", re.IGNORECASE)
    found = [str(file.relative_to(ROOT)) for file in files() if pattern.search(file.read_text(encoding="utf-8"))]
    assert found == [], f"write {REPLACED[word]} instead"


def test_definitions_have_no_vague_names():
    found = []
    for file in (file for file in files() if file.suffix == ".py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            name = getattr(node, "name", None)
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                name = node.target.id
            if name in NAMES and isinstance(node, (ast.AnnAssign, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                found.append(f"{file.relative_to(ROOT)}: {name}")
    assert found == []
