"""Test `make outdated` with simulated registries."""

import os
import subprocess
import sys

import pytest

from loadtests.files import ROOT

NOBODY = "http://127.0.0.1:9/"
NPM = """#!/bin/sh
[ "$(basename "$PWD")" = ws ] || exit 0
echo '{"ws": {"current": "8.1.0", "wanted": "8.1.0", "latest": "9.0.0"}, "same": {"wanted": "1.0", "latest": "1.0"}}'
exit 1
"""


def printed(index, **env):
    env = {**os.environ, "PIP_INDEX_URL": index, "PIP_FIND_LINKS": "", "npm_config_registry": NOBODY, **env}
    command = [sys.executable, ROOT / "tools/outdated.py"]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout.splitlines()


def test_unreachable_registry_is_reported():
    assert printed(NOBODY, PATH="") == [
        "the Python package index does not answer, so its packages are not checked",
        "npm's registry does not answer, so its packages are not checked",
        "Named in                            Package                   Installed     Newest",
        "0 behind",
    ]


@pytest.mark.exhaustive  # slow, because pip queries the index for each package
def test_outdated_package_has_a_row(tmp_path):
    for name in ("django", "pip"):  # the only packages in the index
        (tmp_path / "index" / name).mkdir(parents=True)
        wheel = f"{name}-99.0-py3-none-any.whl"
        (tmp_path / "index" / name / "index.html").write_text(f'<a href="{wheel}">{wheel}</a>')
    (tmp_path / "npm").write_text(NPM)
    (tmp_path / "npm").chmod(0o755)
    _, *rows, last = printed((tmp_path / "index").as_uri(), PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert [row.split() for row in rows] == [
        ["requirements.txt", "Django", *rows[0].split()[2:3], "99.0"],  # no file requires pip, so pip has no row
        ["peers/ws/package.json", "ws", "8.1.0", "9.0.0"],
    ]
    assert last == "2 behind"
