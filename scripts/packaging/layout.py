"""What an installation consists of: one list for `make install`, the tarball, the Debian package and the container image."""

import hashlib
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from archives import gzipped

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
NOTICES = "THIRD-PARTY-NOTICES.txt"
#: The shells for which the argument parser writes a completion script, and where they look for it below a prefix.
COMPLETIONS = {
    "bash": "share/bash-completion/completions/signet",
    "zsh": "share/zsh/site-functions/_signet",
    "fish": "share/fish/vendor_completions.d/signet.fish",
}
#: The programs: the name of the product, and the place below a prefix. The small second one is the command that users run: it asks
#: the agent, or runs the full first one, which it finds beside its own directory.
PROGRAMS = {"signet": "libexec/signet/signet", "signet-front": "bin/signet"}
#: The units of systemd, and whose manager reads them.
UNITS = {
    "signet-agent.service": "user", "signet-agent.socket": "user", "signet-push.service": "user", "signet-server.service": "system",
}  # fmt: skip
#: Debian's zsh does not look in share/zsh/site-functions of the prefix /usr.
DEBIAN_ZSH = "share/zsh/vendor-completions/_signet"
#: The libraries that the small program loads when it starts: those of glibc. Each other one takes a part of the time of `signet code`.
QUICK_LIBRARIES = re.compile(r"lib(c|m|dl|pthread)\.so\.\d+|ld-linux[^ ]*\.so\.\d+")


@dataclass(frozen=True)
class Item:
    """One file of an installation."""

    #: The path below the prefix.
    path: str
    data: bytes
    mode: int = 0o644


def section(program: Path, name: str) -> slice:
    """The place of a section's bytes in an ELF file."""
    table = subprocess.run(["readelf", "--sections", "--wide", program], check=True, stdout=subprocess.PIPE, text=True).stdout
    found = re.search(rf" {re.escape(name)} +\S+ +[0-9a-f]+ +([0-9a-f]+) +([0-9a-f]+) ", table)
    if not found:
        raise SystemExit(f"release: {program} has no section {name}")
    start, size = (int(text, 16) for text in found.groups())
    return slice(start, start + size)


def check_libraries(program: Path) -> None:
    """Fails when the small program loads other libraries than those of glibc."""
    table = subprocess.run(["readelf", "--dynamic", "--wide", program], check=True, stdout=subprocess.PIPE, text=True).stdout
    needed = re.findall(r"\(NEEDED\)[^\[]*\[([^\]]+)\]", table)
    if slow := [name for name in needed if not QUICK_LIBRARIES.fullmatch(name)]:
        raise SystemExit(f"release: {program} loads {', '.join(slow)}; the Makefile's FRONT has the options of its link")


def make_reproducible(program: Path) -> None:
    """Replaces what differs between two builds of the same sources.

    Swift stores hashes in .swift_modhash by which it knows unchanged objects; they differ in each build, and nothing reads them at
    run time. The build ID is a hash over them, too: it becomes a hash of the rest of the file.
    """
    data = bytearray(program.read_bytes())
    hashes, note = section(program, ".swift_modhash"), section(program, ".note.gnu.build-id")
    if note.stop - note.start != 36:
        raise SystemExit(f"release: the build ID of {program} has not the 20 bytes of a SHA-1")
    identifier = slice(note.stop - 20, note.stop)
    data[hashes] = bytes(hashes.stop - hashes.start)
    data[identifier] = bytes(20)
    data[identifier] = hashlib.sha1(data).digest()
    program.write_bytes(data)


def prepare(built: Path, notices: str, folder: Path, manual: Path, time: int) -> None:
    """Writes what an installation needs into a new folder: the programs, and what the full one says about its commands itself.

    - built: The folder with the programs as the linker has written them.
    - manual: The command that writes the man pages: `man PROGRAM FOLDER`.
    - time: The time of the commit, which is the date of the man pages.
    """
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "man").mkdir(parents=True)
    (folder / "completions").mkdir()
    for name in PROGRAMS:
        if not (built / name).is_file():
            raise SystemExit(f"release: there is no {built / name}; run: make binary")
        subprocess.run(["strip", "--remove-section=.comment", "-o", folder / name, built / name], check=True)
        make_reproducible(folder / name)
    check_libraries(folder / "signet-front")
    own = folder / "signet"
    subprocess.run([manual, "man", own, folder / "man"], check=True, env={**os.environ, "SOURCE_DATE_EPOCH": str(time)})
    if not (folder / "man/signet.1").is_file():
        raise SystemExit(f"release: {manual} wrote no signet.1")
    for shell in COMPLETIONS:
        done = subprocess.run([own, f"--generate-completion-script={shell}"], check=True, stdout=subprocess.PIPE)
        # The shell reads the script; nothing runs it, so it needs no interpreter in its first line.
        (folder / "completions" / shell).write_bytes(done.stdout.removeprefix(b"#!/bin/bash\n").rstrip(b"\n") + b"\n")
    (folder / NOTICES).write_text(notices)


def items(prepared: Path, prefix: str, debian=False) -> list[Item]:
    """The files of an installation.

    - prepared: The folder that `prepare` has written.
    - prefix: The directory in which the files are when they are used, e.g. /usr/local; it is in the units.
    - debian: Whether a Debian package gets them: its rules want compressed pages, and have a form of their own for the license.
    """
    found = [Item(path, (prepared / name).read_bytes(), 0o755) for name, path in PROGRAMS.items()]

    def add(path: str, data: bytes, compresses=True):
        found.append(Item(path + ".gz", gzipped(data)) if debian and compresses else Item(path, data))

    for page in sorted((prepared / "man").glob("*.1")):
        add(f"share/man/man1/{page.name}", page.read_bytes())
    for shell, path in COMPLETIONS.items():
        script = (prepared / "completions" / shell).read_bytes()
        add(DEBIAN_ZSH if debian and shell == "zsh" else path, script, compresses=False)
    for unit, kind in UNITS.items():
        text = (PACKAGING / "units" / unit).read_text().replace("@PREFIX@", prefix)
        add(f"lib/systemd/{kind}/{unit}", text.encode(), compresses=False)
    for policy in sorted((PACKAGING / "polkit").glob("*.policy")):
        add(f"share/polkit-1/actions/{policy.name}", policy.read_bytes(), compresses=False)
    documents = "share/doc/signet"
    add(f"{documents}/{NOTICES}", (prepared / NOTICES).read_bytes())
    for name in ("CHANGELOG.md", "README.md") + (() if debian else ("LICENSE",)):
        add(f"{documents}/{name}", (ROOT / name).read_bytes())
    for sample in sorted((ROOT / "Examples/samples").iterdir()):
        add(f"{documents}/examples/{sample.name}", sample.read_bytes(), compresses=False)
    return sorted(found, key=lambda item: item.path)


def stage(files: list[Item], folder: Path) -> None:
    """Writes the files below a new folder, whatever the caller's umask is."""
    for item in files:
        target = folder / item.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(item.data)
        target.chmod(item.mode)
    for directory in [folder, *(path for path in folder.rglob("*") if path.is_dir())]:
        directory.chmod(0o755)
