"""What is linked into the programs: packages of Package.resolved and the parts of packaging/parts.json, with their licenses."""

import json
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import layout

PACKAGING = Path(__file__).resolve().parents[2] / "packaging"
ENDINGS = ("", ".txt", ".md")
LICENSE_FILES = [f"LICENSE{ending}" for ending in ENDINGS]
NOTICE_FILES = [f"{name}{ending}" for name in ("NOTICE", "NOTICES") for ending in ENDINGS]


@dataclass(frozen=True)
class Component:
    """A part of the program that other people wrote."""

    name: str
    version: str
    #: An SPDX expression.
    license: str
    #: The lines that name the owners of the copyright.
    copyright: tuple[str, ...]
    purl: str
    url: str
    description: str = ""
    #: The commit, for a package.
    revision: str = ""
    cpe: str = ""
    #: Whether it is in the program: some packages are only tools, or for other systems.
    is_linked: bool = True
    #: The texts of the license and of the notice.
    texts: tuple[str, ...] = field(default=(), repr=False)


class MissingLicense(SystemExit):
    """A part without a license text, or with one that this script does not know: a release cannot be made with it."""

    def __init__(self, name: str, reason: str):
        super().__init__(f"release: {name}: {reason}")


def spdx(name: str, text: str) -> str:
    """The SPDX expression of a license text."""
    words = " ".join(text.split())
    if "Apache License" in words and "Version 2.0" in words:
        return "Apache-2.0 WITH Swift-exception" if "Runtime Library Exception to the Apache 2.0 License" in words else "Apache-2.0"
    if "Permission is hereby granted, free of charge" in words and "THE SOFTWARE IS PROVIDED" in words:
        return "MIT"
    raise MissingLicense(name, "scripts/packaging/components.py does not know this license; read it, and add it there")


def owners(text: str) -> tuple[str, ...]:
    """The lines of a notice or license that say who has the copyright."""
    lines = (" ".join(line.split()) for line in text.splitlines())
    found = [line for line in lines if re.match(r"Copyright (?:\(c\) ?|© ?)?\d{4}", line, re.I)]
    return tuple(dict.fromkeys(line.rstrip(".") for line in found))


def modules(links: Path) -> tuple[set[str], set[str]]:
    """The modules whose objects the linker gets, and the packages that they are of, from its list of objects."""
    names, packages = set(), set()
    for folder in {Path(line).parts for line in links.read_text().split() if ".build/" in line}:
        place = next(index for index, part in enumerate(folder) if part.endswith(".build"))
        names.add(folder[place].removesuffix(".build"))
    for name in names:
        packages |= package_of(links.parents[1] / f"{name}.build")
    return names, packages


def package_of(objects: Path) -> set[str]:
    """The checkout that a module is built from, by the paths that the compiler has written beside the module's objects."""
    for file in [objects / "output-file-map.json", *sorted(objects.rglob("*.d"))]:
        if file.is_file():
            return set(re.findall(r"/checkouts/([^/\s]+)/", file.read_text(errors="replace")[:100_000])[:1])
    return set()


def pins(resolved: Path) -> list[dict]:
    """The packages of Package.resolved."""
    return sorted(json.loads(resolved.read_text())["pins"], key=lambda pin: pin["identity"])


def checkout_name(pin: dict) -> str:
    """The name of the folder into which SwiftPM clones a package."""
    return pin["location"].rstrip("/").rsplit("/", 1)[-1].removesuffix(".git")


def package(pin: dict, checkouts: Path, linked: set[str]) -> Component:
    """A package of Package.resolved. Fails when it has no license."""
    name = checkout_name(pin)
    folder, state = checkouts / name, pin["state"]
    licenses = [folder / file for file in LICENSE_FILES if (folder / file).is_file()]
    if not licenses:
        raise MissingLicense(name, f"there is no {' or '.join(LICENSE_FILES)} in {folder}")
    text = licenses[0].read_text()
    notices = [(folder / file).read_text() for file in NOTICE_FILES if (folder / file).is_file()]
    address = pin["location"].removesuffix(".git")
    place = address.split("://", 1)[-1]
    version = state.get("version") or state["revision"]
    return Component(
        name=name, version=version, license=spdx(name, text), texts=(text, *notices), url=address, revision=state["revision"],
        copyright=owners("\n".join([*notices, text])) or (f"Copyright (c) the authors of {name}",),
        purl=f"pkg:swift/{place}@{version}", is_linked=name in linked)  # fmt: skip


class Parts:
    """Reads packaging/parts.json with the checkouts and the toolchain of one build."""

    def __init__(self, checkouts: Path, swift: Path, swift_version: str):
        self.folders = {"checkouts": checkouts, "swift": swift, "licenses": PACKAGING / "licenses"}
        self.swift_version = swift_version

    def text(self, name: str, place: str) -> str:
        """A license text, or with `#comment` the comment with which a C file begins."""
        file, _, kind = place.partition("#")
        root, _, path = file.partition(":")
        if not (self.folders[root] / path).is_file():
            raise MissingLicense(name, f"there is no {self.folders[root] / path}")
        text = (self.folders[root] / path).read_text()
        if not kind:
            return text
        comments = re.findall(r"/\*.*?\*/", text[:8000], re.S)
        found = next((comment for comment in comments if re.search("copyright", comment, re.I)), None)
        if found is None:
            raise MissingLicense(name, f"{path} has no comment with its license")
        return re.sub(r"^[ \t]*(?:/\*[-*]?|\*/|\*(?=\s|$))", "", found, flags=re.M).replace("*/", "").strip("\n") + "\n"

    def version(self, part: dict) -> str:
        given = part["version"]
        if isinstance(given, str):
            return given.replace("@SWIFT@", self.swift_version)
        found = re.search(given["pattern"], self.text(part["name"], given["file"]))
        if not found:
            sys.exit(f"release: {part['name']}: {given['file']} does not match {given['pattern']}; correct packaging/parts.json")
        return ".".join(found.groups())

    def read(self, linked: set[str]) -> list[Component]:
        """The parts of a program that has these modules and packages."""
        found = []
        for part in json.loads((PACKAGING / "parts.json").read_text())["parts"]:
            if part.get("when", "") and part["when"] not in linked:
                continue
            version = self.version(part)
            names = {
                key: part.get(key, "").replace("@VERSION@", version).replace("@SWIFT@", self.swift_version)
                for key in ("purl", "cpe")
            }
            found.append(Component(
                name=part["name"], version=version, license=part["license"], copyright=(part["copyright"],), url=part["url"],
                description=part["description"], texts=(self.text(part["name"], part["text"]),), **names))  # fmt: skip
        return found


def toolchain() -> tuple[Path, str]:
    """The folder and the version of the Swift toolchain in PATH."""
    told = json.loads(subprocess.run(["swiftc", "-print-target-info"], check=True, stdout=subprocess.PIPE).stdout)
    version = re.search(r"Swift version (\d+(?:\.\d+)+)", told["compilerVersion"]).group(1)
    return Path(told["paths"]["runtimeResourcePath"]).parents[1], version


def linked(build: Path, resolved: Path = PACKAGING / "Package.resolved") -> list[Component]:
    """Everything in the programs that SwiftPM has built in the folder, and the packages that it fetched for other purposes."""
    names, packages = set(), set()
    for program in layout.PROGRAMS:
        lists = sorted(build.glob(f"*/release/{program}.product/Objects.LinkFileList"))
        if len(lists) != 1:
            sys.exit(f"release: there is no list of what `{program}` is linked from under {build}; run: make binary")
        its_names, its_packages = modules(lists[0])
        names, packages = names | its_names, packages | its_packages
    found = [package(pin, build / "checkouts", packages) for pin in pins(resolved)]
    if unknown := packages - {component.name for component in found}:
        sys.exit(f"release: the program has {', '.join(sorted(unknown))}, which packaging/Package.resolved does not have")
    return found + Parts(build / "checkouts", *toolchain()).read(names | packages)


def notices(found: list[Component]) -> str:
    """The license notices of everything that is in the program; a text that several parts have is there once."""
    found = sorted((component for component in found if component.is_linked), key=lambda component: component.name.lower())
    lines = ["Third-party notices for signet", "", "The program contains these packages and parts. Their licenses follow.", ""]
    texts: dict[str, list[str]] = {}
    for component in found:
        lines.append(f"  {component.name} {component.version}: {component.license}")
        lines.append(f"    {component.url}")
        lines += [f"    {line}" for line in component.copyright]
        for text in component.texts:
            texts.setdefault(text.strip("\n"), []).append(component.name)
    for text, names in texts.items():
        lines += ["", "-" * 100, f"For: {', '.join(names)}", "-" * 100, "", text]
    return "\n".join(lines) + "\n"
