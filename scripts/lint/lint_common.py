"""What the rules share: the tree they read, what a finding is, the allow-list, and Swift source without its prose."""

import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ALLOW_LIST = "scripts/lint/allow.txt"
#: The rules that grant no exceptions, and those that do, by an entry in the allow-list.
STRICT_RULES = [
    "allow-list", "language", "format", "macros", "test-names", "tested-rows", "vendor-tests", "promises", "openid-rows",
    "command-blocks", "swift-samples",
]  # fmt: skip
RULES = ["imports", "forbidden", "platform", "size", "paths", "links", "words"]


# MARK: - Findings and the allow-list


@dataclass(frozen=True)
class Finding:
    path: str
    line: int
    message: str
    #: What an allow-list entry may name: exactly this ...
    subject: str | None = None
    #: ... or any part of this. A finding with neither concerns the whole file.
    text: str | None = None


@dataclass(frozen=True)
class Exemption:
    """One line of the allow-list: `rule path[:function-or-pattern] -- reason`."""

    line: int
    rule: str
    path: str
    pattern: str
    reason: str

    def covers(self, finding: Finding) -> bool:
        if self.path != finding.path:
            return False
        if not self.pattern:
            return finding.subject is None and finding.text is None
        return self.pattern == finding.subject or self.pattern in (finding.text or "")


def exemptions(root: Path) -> list[Exemption]:
    file = root / ALLOW_LIST
    found = []
    for number, line in enumerate(file.read_text().splitlines() if file.exists() else [], 1):
        if line.strip() and not line.startswith("#"):
            entry, _, reason = line.partition(" -- ")
            rule, _, place = entry.strip().partition(" ")
            path, _, pattern = place.strip().partition(":")
            found.append(Exemption(number, rule, path, pattern, reason.strip()))
    return found


def main(rule: str, check) -> None:
    """Runs one rule on the tree named on the command line (this checkout by default) and exits 1 on a finding."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]).resolve()
    findings = list(check(root))
    entries = [entry for entry in exemptions(root) if entry.rule == rule] if rule in RULES else []
    kept = [finding for finding in findings if not any(entry.covers(finding) for entry in entries)]
    for entry in entries:
        if not any(entry.covers(finding) for finding in findings):
            kept.append(Finding(ALLOW_LIST, entry.line, "matches nothing any more: delete the entry"))
    for finding in sorted(kept, key=lambda finding: (finding.path, finding.line)):
        print(f"{finding.path}:{finding.line}: {finding.message}")
    sys.exit(1 if kept else 0)


# MARK: - The tree


def swift_files(root: Path, *folders: str):
    """(path relative to the root, text) of every Swift file under the folders, without those that a DocC tutorial shows."""
    for folder in folders:
        for file in sorted((root / folder).rglob("*.swift")):
            relative = file.relative_to(root)
            if not any(part.startswith(".") or part.endswith(".docc") for part in relative.parts):
                yield relative.as_posix(), file.read_text()


def manifest(root: Path) -> dict:
    """Package.swift as SwiftPM reads it."""
    with tempfile.TemporaryDirectory() as scratch:
        command = ["swift", "package", "--package-path", str(root), "--scratch-path", scratch, "dump-package"]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        sys.exit(f"Package.swift:1: SwiftPM cannot read it:\n{done.stderr}")
    return json.loads(done.stdout)


def swift_targets(root: Path) -> list[dict]:
    """The targets that are built from Swift: no libraries of the system, and none in C."""
    targets = [target for target in manifest(root)["targets"] if target["type"] not in ("system", "binary")]
    return [target for target in targets if not any((root / "Sources" / target["name"]).glob("*.c"))]


def manifest_line(root: Path, target: str) -> int:
    """The line of Package.swift that names the target."""
    text = (root / "Package.swift").read_text()
    kinds = "target|executableTarget|testTarget|systemLibrary|plugin|macro"
    found = re.search(rf'\.(?:{kinds})\(\s*name:\s*"{re.escape(target)}"', text)
    return text.count("\n", 0, found.start()) + 1 if found else 1


def tracked_files(root: Path):
    """What is, or is about to be, in the repository; in a tree without git, every file."""
    if (root / ".git").exists():
        command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(command, capture_output=True, check=True, text=True).stdout.split("\0")
    else:
        names = [os.path.relpath(os.path.join(top, name), root) for top, _, files in os.walk(root) for name in files]
    return sorted(name for name in set(names) if name and (root / name).is_file())


# MARK: - Markdown

FENCE = re.compile(r"^(?:```|~~~).*?^(?:```|~~~)[ \t]*$", re.M | re.S)
_HEADING = re.compile(r"^#{1,6} +(.*?)[ #]*$", re.M)


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def headings(page: Path) -> list[str]:
    return [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text) for text in _HEADING.findall(FENCE.sub(blank, page.read_text()))]


def anchors(page: Path) -> list[str]:
    """The anchors of a page, as GitHub makes them."""
    found = []
    for text in headings(page):
        name = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        found.append(name if name not in found else f"{name}-{found.count(name)}")
    return found


# MARK: - Tables that name tests

_TEST = re.compile(r"^[ \t]*@Test\b.*?\bfunc `?(\w+)", re.M | re.S)
_REFERENCE = re.compile(r"`?(\w+)/(\w+)`?")


def test_functions(root: Path) -> dict[str, set[str]]:
    """The names of the test functions of each target."""
    functions = {}
    for path, source in swift_files(root, "Tests"):
        functions.setdefault(path.split("/")[1], set()).update(_TEST.findall(source))
    return functions


def table_rows(page: Path, heading: str):
    """(line, cells) of each row of the tables whose first column has this heading."""
    inside = False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        cells = [cell.strip() for cell in re.sub(r"^\||\|\s*$", "", line).split("|")]
        if not line.startswith("|"):
            inside = False
        elif cells[0] == heading:
            inside = True
        elif inside and not set(cells[0]) <= set("-: "):
            yield number, cells


def missing_tests(cell: str, functions: dict[str, set[str]]):
    """What is wrong with the cell of a row that names tests: `Target/function, Target/function`."""
    for test in cell.split(", "):
        reference = _REFERENCE.fullmatch(test)
        if not reference:
            yield f"{test} is not `Target/function`"
        elif reference.group(2) not in functions.get(reference.group(1), ()):
            yield f"there is no test function {test.strip('`')}"


# MARK: - Swift source

_TOKEN = re.compile(r'//|/\*|#*"|#+/|[`/()]')
_BEFORE_REGEX = re.compile(r"(?:^|[(,=:\[{;?&|!]|\b(?:return|in|case|try|await|where|if|else))[ \t]*\Z", re.M)


def mask(source: str) -> str:
    """The source with comments and the insides of literals blanked. Lines, columns and interpolated code stay."""
    masker = _Masker(source)
    masker.code(0)
    return "".join(masker.out)


def prose(source: str) -> list[tuple[int, bool, str]]:
    """The position of each comment and literal, whether it is a literal, and its text.

    Each character of a literal's quotes and of interpolated code is a dot, unless it is whitespace. A literal in such code has a text
    of its own.
    """
    masker = _Masker(source)
    masker.code(0)
    return sorted(masker.prose)


class _Masker:
    def __init__(self, source: str):
        self.source = source
        self.out = list(source)
        self.prose: list[tuple[int, bool, str]] = []

    def blank(self, start: int, end: int) -> int:
        self.out[start:end] = [char if char == "\n" else " " for char in self.source[start:end]]
        return end

    def code(self, at: int, interpolated: bool = False) -> int:
        """Reads code from `at` to the end of the file, or past the `)` that ends an interpolation."""
        depth = 0
        while token := _TOKEN.search(self.source, at):
            at, text = token.start(), token.group()
            if text == "//":
                at = self.comment(at, self.end_of_line(at))
            elif text == "/*":
                at = self.comment(at, self.end_of_comment(at))
            elif text.endswith('"'):
                at = self.literal(at, len(text) - 1)
            elif text == "`":
                closing = self.source.find("`", at + 1, self.end_of_line(at))
                at = (closing if closing >= 0 else at) + 1
            elif text.endswith("/"):
                at = self.regex(at, len(text) - 1)
            else:
                depth += 1 if text == "(" else -1
                at += 1
                if interpolated and depth < 0:
                    return at
        return len(self.source)

    def end_of_line(self, at: int) -> int:
        end = self.source.find("\n", at)
        return end if end >= 0 else len(self.source)

    def end_of_comment(self, at: int) -> int:
        depth = 0
        for mark in re.compile(r"/\*|\*/").finditer(self.source, at):
            depth += 1 if mark.group() == "/*" else -1
            if depth == 0:
                return mark.end()
        return len(self.source)

    def comment(self, at: int, end: int) -> int:
        self.prose.append((at, False, self.source[at:end]))
        return self.blank(at, end)

    def literal(self, at: int, hashes: int) -> int:
        inner = len(self.prose)
        end = self.string(at, hashes)
        text = [old if old.isspace() or old != new else "·" for old, new in zip(self.source[at:end], self.out[at:end])]
        for start, _, nested in self.prose[inner:]:
            text[start - at : start - at + len(nested)] = re.sub(r"\S", "·", nested)
        self.prose.append((at, True, "".join(text)))
        return end

    def string(self, at: int, hashes: int) -> int:
        start = at + hashes
        many_lines = re.compile(r'"""[ \t]*$', re.M).match(self.source, start) is not None
        quote = '"""' if many_lines else '"'
        closing, escape = quote + "#" * hashes, "\\" + "#" * hashes
        stop = re.compile("|".join(map(re.escape, [closing, escape])) + ("" if many_lines else r"|\n"))
        at = text = start + len(quote)
        while mark := stop.search(self.source, at):
            if mark.group() == closing:
                self.blank(text, mark.start())
                return mark.end()
            if mark.group() == "\n":
                return self.blank(text, mark.start())
            at = mark.end() + 1
            if self.source.startswith("(", mark.end()):
                self.blank(text, mark.end())
                at = text = self.code(at, interpolated=True)
        return self.blank(text, len(self.source))

    def regex(self, at: int, hashes: int) -> int:
        start = at + hashes + 1
        if hashes:
            end = self.source.find("/" + "#" * hashes, start)
            return self.blank(start, end if end >= 0 else len(self.source)) + hashes + 1
        line_start = self.source.rfind("\n", 0, at) + 1
        literal = re.compile(r"(?![ \t)])(?:\\.|[^/\\\n])+/").match(self.source, start)
        if literal and _BEFORE_REGEX.search(self.source[line_start:at]):
            return self.blank(start, literal.end() - 1) + 1
        return start


def conditions(code: str):
    """For each line of masked code: the `#if` conditions around it, outermost first, and `#else` as `!(...)`."""
    stack: list[list[str]] = []
    for line in code.splitlines():
        directive = re.match(r"\s*#(if|elseif|else|endif)\b\s*(.*)", line)
        word, condition = directive.groups() if directive else (None, "")
        if word == "if":
            stack.append([condition.strip()])
        elif word in ("elseif", "else") and stack:
            stack[-1][-1] = f"!({stack[-1][-1]})"
            stack[-1] += [condition.strip()] if word == "elseif" else []
        elif word == "endif" and stack:
            stack.pop()
        yield [condition for branch in stack for condition in branch]


_IMPORT = re.compile(
    r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?"
    r"import\s+(?:(?:struct|class|enum|protocol|typealias|func|let|var)\s+)?([A-Za-z_]\w*)"
)


def imports(code: str):
    """(line number, module, the `#if` conditions around it) of every import in masked code."""
    for number, (line, around) in enumerate(zip(code.splitlines(), conditions(code)), 1):
        if found := _IMPORT.match(line):
            yield number, found.group(1), around


def is_computed(code: str, at: int) -> bool:
    """Whether the `var` declared at `at` in masked code has accessors and no storage."""
    opening = re.compile(r"[={\n]").search(code, at)
    return bool(opening) and opening.group() == "{" and not re.match(r"\{\s*(?:did|will)Set\b", code[opening.start() :])
