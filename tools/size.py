"""Compare the size of the code with the limits in size.toml.

`make size` prints the lines of code of each package without docstrings, comments and blank lines. The program reads the
Python, JavaScript and TypeScript files that git tracks or would add. `make lint` fails if a package has more lines than
its limit, or if it has no limit.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GROUPS = {
    "product": ("loadtests", "testproject"),
    "packages": ("packages",),
    "tests": ("tests",),
    "tools": ("tools",),
}
LAYOUT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENCODING, tokenize.ENDMARKER,
}  # fmt: skip
# Also match strings, templates and regular expressions, because they can contain the start of a comment.
JAVASCRIPT = re.compile(
    r"""(?P<comment>/\*.*?\*/|//[^\n]*)"""
    r"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`"""
    r"""|(?<=[(,=:\[!&|?{};\n])[ ]*/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/""",
    re.DOTALL,
)


def python_lines(text: str) -> int:
    """Return the number of lines that contain Python code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in LAYOUT:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - _docstring_lines(text))


def _docstring_lines(text: str) -> set[int]:
    lines: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                lines.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return lines


def javascript_lines(text: str) -> int:
    """Return the number of lines that contain JavaScript or TypeScript code."""
    code = JAVASCRIPT.sub(lambda found: "" if found["comment"] else found[0], text)
    return sum(1 for line in code.splitlines() if line.strip())


COUNTERS = {".py": python_lines, ".js": javascript_lines, ".ts": javascript_lines}


def sizes() -> dict[str, Counter[str]]:
    """Return the number of lines of code in each package, by group."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(listing, cwd=ROOT, capture_output=True, check=True).stdout
    found: dict[str, Counter[str]] = {group: Counter() for group in GROUPS}
    for name in filter(None, listed.decode().split("\0")):
        file = Path(name)
        group = next((group for group, folders in GROUPS.items() if file.parts[0] in folders), None)
        # Git also lists files that were deleted without `git rm`.
        if group and file.suffix in COUNTERS and (ROOT / file).is_file():
            depth = 3 if group == "packages" else 2  # because each of these packages contains its own tests
            package = "/".join(file.parts[: min(depth, len(file.parts) - 1)])
            found[group][package] += COUNTERS[file.suffix]((ROOT / file).read_text(encoding="utf-8"))
    return found


def main() -> None:
    """Print the sizes of all packages. Exit with status 1 if a package exceeds its limit or lacks a limit."""
    limits: dict[str, int] = tomllib.loads((ROOT / "size.toml").read_text(encoding="utf-8"))
    found = sizes()
    problems = []
    for group, packages in found.items():
        for package, lines in sorted(packages.items()):
            limit = limits.get(package)
            print(f"{lines:8,}  of {limit or 0:6,}  {package}")
            if limit is None:
                problems.append(f"{package} has no limit. Add a limit to size.toml")
            elif lines > limit:
                problems.append(
                    f"{package} has {lines:,} lines of code, and its limit is {limit:,}. "
                    "Remove code, or raise the limit in size.toml and lower another limit"
                )
        print(f"{packages.total():8,}  {group}\n")
    present = {package for packages in found.values() for package in packages}
    problems += [f"{package} has no code. Remove it from size.toml" for package in limits if package not in present]
    print("  ".join(f"{group}: {packages.total():,}" for group, packages in found.items()))
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
