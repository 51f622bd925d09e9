"""`make size`: lines by package, of what Python, JavaScript, TypeScript and JSON Schema git does not ignore."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CODE = (".py", ".js", ".ts")


def lines(file: Path) -> int:
    """The number of lines of a file; 0 where it is removed and git has not heard of it."""
    return file.read_bytes().count(b"\n") if file.is_file() else 0


def main() -> None:
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(listing, cwd=ROOT, capture_output=True, check=True).stdout
    files = [Path(name) for name in listed.decode().split("\0") if name]
    totals: Counter[str] = Counter()
    for title, tops, endings in (
        ("product", ("loadtests", "testproject"), CODE),
        ("packages", ("packages",), CODE),
        ("tests", ("tests",), CODE),
        ("tools", ("tools",), CODE),
        ("schemas by hand", ("docs/schemas",), (".json",)),
    ):
        packages: Counter[str] = Counter()
        for file in files:
            if file.suffix in endings and str(file).startswith(tuple(f"{top}/" for top in tops)):
                depth = 3 if title == "packages" else 2  # there each has its own tests
                packages["/".join(file.parts[: min(depth, len(file.parts) - 1)])] += lines(ROOT / file)
        for name, number in sorted(packages.items()):
            print(f"{number:8,}  {name}")
        totals[title] = packages.total()
        print(f"{totals[title]:8,}  {title}\n")
    print("  ".join(f"{title}: {number:,}" for title, number in totals.items()))


if __name__ == "__main__":
    main()
