"""The blocks of commands in the documents: ```sh and ```console, with the mark in the line before each."""

import re
from dataclasses import dataclass
from pathlib import Path

#: The documents whose blocks are run.
PAGES = re.compile(r"(?:README|CONTRIBUTING)\.md|(?:docs|Examples)/.*\.md")
LANGUAGES = ("sh", "console")
#: What other documents call a block of commands.
OTHER_LANGUAGES = ("bash", "zsh", "shell", "shell-session", "shellsession", "session", "terminal")
MARK = re.compile(r"[ \t]*<!-- *(?P<kind>ci|nightly|not-run)(?:: *(?P<reason>.*?))? *-->[ \t]*")
_FENCE = re.compile(r"(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,})[ \t]*(?P<language>[^\s`]*).*")


@dataclass(frozen=True)
class Block:
    page: str
    #: The line of the fence, from 1.
    line: int
    language: str
    #: `ci`, `nightly`, `not-run`, or nothing.
    mark: str | None
    reason: str
    #: The lines between the fences, without the indentation of the fence.
    lines: tuple[str, ...]

    def commands(self):
        """(line, command, shown output) of each command of a ```console block.

        A command begins with `$ `. It goes on after a backslash, and in lines that begin with `> `.
        """
        found = []
        is_open = False
        for number, line in enumerate(self.lines, self.line + 1):
            if line.startswith("$ "):
                found.append((number, [line[2:]], []))
            elif found and not found[-1][2] and (is_open or line.startswith("> ")):
                found[-1][1].append(line.removeprefix("> "))
            elif found:
                found[-1][2].append(line)
            is_open = bool(found) and not found[-1][2] and found[-1][1][-1].endswith("\\")
        return [(number, "\n".join(command), shown) for number, command, shown in found]


def blocks(page: str, text: str, languages=LANGUAGES):
    """The blocks of a page in one of the languages."""
    lines = text.splitlines()
    opening, start = None, 0
    for index, line in enumerate(lines):
        fence = _FENCE.fullmatch(line)
        if opening is None and fence:
            opening, start = fence, index
        elif opening and line.strip() and set(line.strip()) == {opening["fence"][0]} and len(line.strip()) >= len(opening["fence"]):
            if opening["language"] in languages:
                mark = MARK.fullmatch(lines[start - 1]) if start else None
                inside = [text.removeprefix(opening["indent"]) for text in lines[start + 1 : index]]
                kind, reason = (mark["kind"], mark["reason"] or "") if mark else (None, "")
                yield Block(page, start + 1, opening["language"], kind, reason, tuple(inside))
            opening = None


def pages(names):
    """Those of the files that are documents with blocks of commands."""
    return [name for name in names if PAGES.fullmatch(name)]


def page_blocks(root: Path, name: str):
    return list(blocks(name, (root / name).read_text()))
