"""`make size` counts the lines that a commit of all that is there would have."""

import shutil
import subprocess
import sys

from loadtests.files import ROOT

TRACKED = {"loadtests/a/one.py": 7, "loadtests/gone.py": 2, "packages/p/p/two.py": 5, "tests/test_one.py": 3}
OTHERS = {"loadtests/a/new.js": 1000, "loadtests/note.txt": 50, "loadtests/built/two.py": 9}


def test_files_that_are_not_added_yet_count_and_what_git_ignores_and_what_is_gone_does_not(tmp_path):
    def size():
        program = [sys.executable, "tools/size.py"]
        return subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "size.py", tmp_path / "tools")
    (tmp_path / ".gitignore").write_text("built/\n")
    for name, lines in {**TRACKED, **OTHERS}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x\n" * lines)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    subprocess.run(["git", "-C", tmp_path, "add", *TRACKED], check=True)
    assert " 1,007  loadtests/a\n" in size()
    assert size().splitlines()[-1].startswith("product: 1,009  packages: 5  tests: 3  tools: ")
    (tmp_path / "loadtests/gone.py").unlink()
    assert "product: 1,007  " in size()
