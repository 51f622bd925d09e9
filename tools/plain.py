"""Count constructions that make the English of a project hard to read.

Without arguments, `tools/plain.py` compares each folder with its limit in plain.toml. `make lint` fails if a folder has
more findings per 1,000 words than its limit, or if the documentation has more than 35,000 words. With paths, the
program prints each finding with its file and line. A finding is a sentence to read again, not always a sentence to
change. The program reads Python, JavaScript, TypeScript, TOML, reST and Markdown.
"""

import argparse
import ast
import io
import itertools
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIMITS = ROOT / "plain.toml"
PAGES = ("docs/*.rst", "*.md", "packages/*/README.md")  # without generated pages
MOST_WORDS = 35_000
SUFFIXES = (".rst", ".inc", ".md", ".txt", ".py", ".js", ".ts", ".toml")
NOT_PROSE = ("results", "peers")  # results contains generated pages, and peers contains other languages

BE, HAVE, START = "(?:is|are|was|were)", "(?:has|have)", r"(?:\A|[.:;!?] )"
PATTERNS = {  # name: (advice, regular expression)
    "what-clause": ("name the thing: 'the settings in the file'", rf"\b[Ww]hat (?:{BE}|{HAVE}|had|do|does|did|can"
        r"|cannot|may|comes?|came|goes|takes|it|they|an?|its|this|each|others|nobody|only)\b(?![^.;]*\?)"),
    "question-word": ("start with a verb or noun", r"\A(?:What|Where|Who|Why|How|Which)\b(?! to| you|'s)(?!.*\?\s*$)"),
    "where-for-if": ("write 'if' or 'when'; keep 'where' for places", START + r"Where (?!to\b|you\b)[^?.]*,"
        r"|\bwhere (?:it|that|they|this|these|there|none|one|no|nothing|nobody|both|some|several) \w+"),
    "that-of": ("repeat the noun", r"\b(?:that|those) of\b|\bthose (?:that|whose|who|in|on|with|without)\b"
        r"|\bones? (?:that|who|whose|of which|where)\b|\b(?:further|own|these|those) ones?\b"),
    "things-say": ("use shows, prints, reports or means", r"\b(?:says|say so|said so)\b"),
    "colon-chain": ("one idea in a sentence", r"[;:][^.;:]{15,140};"),
    "clipped-raises": ("use a 'Raises:' section", r"\bRaises [A-Z]\w+(?:[.,]| where| for| and| with)"),
    "word-choice": ("use only, start, again, also, any, no client", r"\b(?:alone|beg(?:ins?|an|un)|likewise|anew|amid"
        r"|(?:no|some|any)body|meanwhile|beforehand|whatever|whoever|seldom|needless|astray|alike|thereby|lest)\b"),
    "agentless-say": ("name who acts", rf"\b(?:{BE}|be|been) (?:not )?(?:said|told|asked|heard|spoken of|looked at)\b"),
    "negated-noun": ("negate the verb", rf"(?<!there )\b(?:{BE}|knows?|names?|takes?|makes?|gives?|asks?|keeps?) no "
        r"(?!longer|sense|more|such|need|way|guarantee|limit|matter|problem|point|reason|one|doubt|difference)[a-z]+"),
    "clipped-idiom": ("write it out: 'with a message'", r"\b(?:with a word|in (?:a few )?words|(?:is|in) one line"
        r"|at hand|in vain|under way|for ever|but for|held to|stands?|stood|lies|goes on|holds up|bears?)\b"),
    "of-its-own": ("put 'its own' or 'separate' before the noun", r"\bof (?:its|their|one's|your|our) own\b"),
    "vague-object": ("name the thing", rf"\b{HAVE} (?:what|all|it|them|those|each|one)\b|\b[Nn]one (?:{BE}|has|where)\b"
        rf"|\b(?:{BE}|{HAVE}|in|of|to|and|by) none\b|\b(?:some|any|no)thing (?:else )?(?:that|of|which|is|has)\b"),
    "preposition-which": ("make two sentences", r"\b(?:of|to|at|after|before|over|by|under) (?:which|whom|whose)\b"),
    "here-there": ("name the place: 'on the server machine'", r"\b(?:there|here)(?=[,;)]| or | and )"),
    "no-subject": ("put the subject first", START + r"(?:Of (?!course)|[Ww]ho [a-z][^?]*[.;])|\b(?:by|of|to|for) who "),
}  # fmt: skip
WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*")
HIDDEN = re.compile(r"\.\. +(?:code|sourcecode|literalinclude|toctree|parsed-literal|image|math|raw|_|\||[\w-]+-of::)")
CODE = re.compile(r"<\w+[ />]|</|=>|&&|\b(?:SELECT|INSERT|UPDATE|CREATE|DELETE) |[{}]\s*$")
Pieces = Iterator[tuple[str, int, str]]  # part of the project, number of the first line, text
TOKEN = re.compile(r"""(?P<comment>/\*.*?\*/|//[^\n]*(?:\n[ \t]*//[^\n]*)*|^#\s[^\n]*(?:\n#[^\n]*)*)"""
    r'''|""".*?"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`''', re.DOTALL | re.MULTILINE)  # fmt: skip


def without_markup(text: str) -> str:
    """Return the text without roles, link targets and tags. Inline code is replaced with X."""
    text = re.sub(r"``[^`]+``|(?<![`\w:])`[^`<>\n]+`(?!_)", "X", text)
    text = re.sub(r"(?::[\w:+-]+:)?`([^`<]+?)\s*(?:<[^`>]*>)?`_*", r"\1", text)
    return re.sub(r"(?s)!?\[([^\]]*)\]\([^)]*\)|<!--.*?-->|</?\w[^>]*>|https?://\S+|[*|]+", r"\1", text)


def paragraphs(text: str, part: str = "docs", first: int = 1) -> Pieces:
    """Yield the paragraphs, list items and table cells of reST, Markdown or a docstring, without code blocks."""
    kept: list[str] = []
    start, code_indent, fenced = first, 999, False
    for number, line in enumerate([*text.splitlines(), ""], first):
        stripped, indent = line.strip(), len(line) - len(line.lstrip())
        fenced ^= (fence := stripped.startswith("```"))
        code_indent = 999 if stripped and indent <= code_indent else code_indent
        hidden = fence or fenced or indent > code_indent
        if not hidden and (HIDDEN.match(stripped) or (stripped.endswith("::") and stripped[:2] != "..")):
            hidden, code_indent = stripped[:2] == "..", indent
        markup = re.match(r"\.\. |:[\w-]+:(?:\s|$)|>>> |[=\-~^\"'#*+|]{3,}$", stripped)
        if kept and (not stripped or hidden or markup or re.match(r"[*+-] |\d+\. |\|", stripped)):
            yield part, start, without_markup("\n".join(kept))
            kept = []
        if stripped and not hidden and not markup:
            start = start if kept else number
            kept.append(re.sub(r"^(?:(?:[*+-] )+|#+ )", "", stripped))


def messages(text: str, line: int) -> Pieces:
    """Yield the string if it contains at least five words and doesn't look like code."""
    letters = sum(character.isalpha() or character in " ,.'" for character in text)
    if letters > 0.85 * len(text) and len(WORD.findall(text)) >= 5 and not CODE.search(text):
        yield "messages", line, text


def python_pieces(source: str) -> Pieces:
    """Yield the docstrings, test names, messages and comments of a Python module."""
    visited: set[ast.AST] = set()
    for node in ast.walk(ast.parse(source)):  # ast.walk yields a node before its children
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            if not isinstance(node, ast.Module) and node.name.startswith("test_"):
                yield "test names", node.lineno, node.name[5:].replace("_", " ")
            match node.body[:1]:
                case [ast.Expr(value=ast.Constant(value=str(docstring)) as constant)]:
                    visited.add(constant)
                    yield from paragraphs(docstring, "docstrings", constant.lineno)
        elif isinstance(node, (ast.JoinedStr, ast.Constant)) and node not in visited:
            parts = node.values if isinstance(node, ast.JoinedStr) else [node]
            visited.update(parts)
            texts = (str(part.value) if isinstance(part, ast.Constant) else "X" for part in parts)
            yield from messages("".join(texts), node.lineno)
    comments = (t for t in tokenize.generate_tokens(io.StringIO(source).readline) if t.type == tokenize.COMMENT)
    for _, group in itertools.groupby(enumerate(comments), lambda pair: pair[1].start[0] - pair[0]):
        block = [token for _, token in group]
        yield "comments", block[0].start[0], without_markup("\n".join(t.string.lstrip("#: ") for t in block))


def pieces(path: Path) -> Pieces:
    """Yield the prose of a file."""
    source = path.read_text(errors="replace")
    if path.suffix in (".rst", ".inc", ".md", ".txt"):
        yield from paragraphs(source)
    elif path.suffix == ".py":
        yield from python_pieces(source)
    for match in TOKEN.finditer(source) if path.suffix in (".js", ".ts", ".toml") else ():
        line = source.count("\n", 0, match.start()) + 1
        if match["comment"]:
            text = re.sub(r"(?m)^[ \t]*(?:/\*+|\*+/?|//|#+) ?|\*/$|\{[^}]*\}|@\w+[^\n]*", "", match[0])
            yield "comments", line, without_markup(text)
        else:
            yield from messages(re.sub(r"\$\{[^}]*\}", "X", match[0].strip("\"'`")), line)


class Findings:
    """The numbers of findings and words, by part of the project and by file, and of findings by pattern."""

    def __init__(self) -> None:
        self.words: Counter[str | Path] = Counter()
        self.found: Counter[str | Path] = Counter()

    def add(self, path: Path, quiet: bool = True) -> None:
        """Count the findings in a file, and print them unless `quiet`."""
        for part, first, text in pieces(path):
            self.words.update({part: (count := len(WORD.findall(text))), path: count, "all": count})
            one_line = text.replace("\n", " ")
            for name, (advice, expression) in PATTERNS.items():
                for match in re.finditer(expression, one_line):
                    self.found.update((part, path, name, "all"))
                    if not quiet:
                        line = first + text.count("\n", 0, match.start())
                        print(f"{path}:{line}: {name}: '{match[0][:60].strip()}': {advice}")

    def rate(self, key: str | Path) -> float:
        """Return the number of findings per 1,000 words."""
        return 1000 * self.found[key] / max(1, self.words[key])


def print_tables(paths: Iterable[Path], quiet: bool, files: int) -> None:
    """Print the findings in files and folders. Then print tables by pattern, by part, and for the worst files."""
    findings = Findings()
    for path in sorted(file for root in paths for file in [root, *root.rglob("*.*")] if file.is_file()):
        findings.add(path, quiet)
    for name in sorted(PATTERNS, key=lambda name: -findings.found[name]):
        print(f"{name:20}{findings.found[name]:7}")
    parts = sorted(key for key in findings.words if isinstance(key, str))
    long = [key for key, words in findings.words.items() if isinstance(key, Path) and words >= 200]
    worst = sorted(long, key=findings.rate, reverse=True)[:files]
    for key in itertools.chain[str | Path](parts, worst):
        words, found = findings.words[key], findings.found[key]
        print(f"{key!s:48}{words:8} words{found:7} findings{findings.rate(key):8.1f} per 1,000 words")


def folder_rates() -> dict[str, float]:
    """Return the findings per 1,000 words of each top-level folder. The key ``.`` is for files outside folders."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(listing, cwd=ROOT, capture_output=True, check=True).stdout
    folders: dict[str, Findings] = {}
    for name in sorted(filter(None, listed.decode().split("\0"))):
        file = Path(name)
        folder = file.parts[0] if len(file.parts) > 1 else "."
        if file.suffix in SUFFIXES and folder not in NOT_PROSE and (ROOT / file).is_file():
            folders.setdefault(folder, Findings()).add(ROOT / file)
    return {folder: round(findings.rate("all"), 1) for folder, findings in folders.items()}


def excess_of_words() -> list[str]:
    """Return an error in a list if the documentation contains too many words."""
    words = sum(len(page.read_text(encoding="utf-8").split()) for part in PAGES for page in ROOT.glob(part))
    print(f"{words:6,}  of {MOST_WORDS:6,}  words of documentation")
    return [f"the documentation has {words:,} words, and its limit is {MOST_WORDS:,}"] if words > MOST_WORDS else []


def compare_with_limits(lower: bool) -> None:
    """Compare the rate of each folder with its limit in plain.toml, and the words of the documentation with MOST_WORDS.

    Args:
        lower: Whether to replace each limit in plain.toml that is higher than the rate of its folder.

    Raises:
        SystemExit: If a folder or the documentation exceeds its limit, or if a folder doesn't have a limit.
    """
    text = LIMITS.read_text(encoding="utf-8")
    limits: dict[str, float] = tomllib.loads(text)
    problems = excess_of_words()
    for folder, rate in folder_rates().items():
        limit = limits.get(folder)
        print(f"{rate:6.1f}  of {limit or 0:6.1f}  {folder}")
        if limit is None:
            problems.append(f"{folder} has no limit. Add a limit to plain.toml")
        elif rate > limit:
            problems.append(
                f"{folder} has {rate} findings per 1,000 words, and its limit is {limit}. Rewrite the sentences "
                f"that `python tools/plain.py {folder}` prints"
            )
        elif lower and rate < limit:
            text = text.replace(f'"{folder}" = {limit}', f'"{folder}" = {rate}')
    if lower:
        LIMITS.write_text(text, encoding="utf-8")
    if problems:
        sys.exit("\n".join(problems))


def main() -> None:
    """Read the options, and check the given paths or all folders."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="print the findings in these files")
    parser.add_argument("--files", type=int, default=0, metavar="N", help="list the N files with the highest rates")
    parser.add_argument("--quiet", action="store_true", help="print only the tables")
    parser.add_argument("--lower", action="store_true", help="lower the limits in plain.toml to the current rates")
    options = parser.parse_args()
    if options.paths:
        print_tables(options.paths, options.quiet, options.files)
    else:
        compare_with_limits(options.lower)


if __name__ == "__main__":
    main()
