"""The Debian package."""

import hashlib
import os
import re
import subprocess
import tempfile
from datetime import datetime, timezone
from email.utils import format_datetime
from pathlib import Path

import layout
from archives import gzipped
from components import Component

FOLDER = layout.PACKAGING / "debian"
#: The licenses that Debian has in /usr/share/common-licenses, and where the text of an exception begins and ends.
COMMON = {
    "Apache-2.0": ("Apache-2.0", None),
    "CC0-1.0": ("CC0-1.0", None),
    "Apache-2.0-with-Swift-exception": ("Apache-2.0", r"## Runtime Library Exception.*"),
    "Apache-2.0-with-LLVM-exception": ("Apache-2.0", r"---- LLVM Exceptions to the Apache 2\.0 License ----.*?(?===)"),
    "GPL-3.0-or-later-with-GCC-exception-3.1": ("GPL-3", r"GCC RUNTIME LIBRARY EXCEPTION.*"),
}
#: What follows in ICU's license is about its dictionaries and its build; it is in THIRD-PARTY-NOTICES.txt.gz.
ICU_END = "Third-Party Software Licenses"


def dependencies(programs: list[Path]) -> str:
    """The packages with the libraries that the programs are linked to, in versions that have what they use."""
    with tempfile.TemporaryDirectory() as scratch:
        control = Path(scratch) / "debian/control"
        control.parent.mkdir()
        control.write_text("Source: signet\n\nPackage: signet\nArchitecture: any\n")
        # Where the tool expects a package that is being built.
        place = Path(scratch) / "debian/signet"
        (place / "DEBIAN").mkdir(parents=True)
        for program in programs:
            (place / program.name).symlink_to(program.resolve())
        command = ["dpkg-shlibdeps", "-O", *(f"debian/signet/{program.name}" for program in programs)]
        done = subprocess.run(command, cwd=scratch, check=True, stdout=subprocess.PIPE, text=True)
    return re.fullmatch(r"shlibs:Depends=(.+)\n", done.stdout).group(1)


def paragraph(text: str) -> str:
    """A text as the continuation of a field: each line begins with a space, and an empty one has a dot."""
    return "\n".join(f" {line.rstrip()}" if line.strip() else " ." for line in text.strip("\n").splitlines())


def copyright(components: list[Component]) -> str:
    """The file `copyright` in its machine-readable form."""
    lines, seen = [(FOLDER / "copyright").read_text()], {"Apache-2.0": ""}
    for component in sorted((part for part in components if part.is_linked), key=lambda part: part.name.lower()):
        name = component.license.replace(" WITH ", "-with-").replace(" AND ", " and ")
        owners = "\n           ".join(re.sub(r"^Copyright (?:\(c\) ?)?", "", line, flags=re.I) for line in component.copyright)
        lines.append(f"Files: linked/{component.name}\nCopyright: {owners}\nLicense: {name}\n")
        if name not in seen:
            seen[name] = component.texts[0]
    for name, text in seen.items():
        if name in COMMON:
            file, exception = COMMON[name]
            body = f" On Debian systems the text of this license is in\n /usr/share/common-licenses/{file}."
            if exception:
                body += " It has this exception:\n .\n" + paragraph(re.search(exception, text, re.S).group())
        else:
            body = paragraph(text.split(ICU_END)[0].rstrip("-\n "))
        lines.append(f"License: {name}\n{body}\n")
    return "\n".join(lines)


def changelog(version: str, time: int) -> bytes:
    """Debian's change log: one entry, because CHANGELOG.md has what is new."""
    date = format_datetime(datetime.fromtimestamp(time, timezone.utc))
    maintainer = re.search(r"^Maintainer: (.+)$", (FOLDER / "control").read_text(), re.M).group(1)
    change = f"  * Release {version}; CHANGELOG.md.gz says what is new."
    return gzipped(f"signet ({version}) stable; urgency=medium\n\n{change}\n\n -- {maintainer}  {date}\n".encode())


def build(files: list[layout.Item], programs: list[Path], components: list[Component], version: str, architecture: str, time: int,
          output: Path, compression: str) -> None:  # fmt: skip
    """Writes the package. The files are those for the prefix /usr."""
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch) / "tree"
        documents = "share/doc/signet"
        own = [
            layout.Item(f"{documents}/copyright", copyright(components).encode()),
            layout.Item(f"{documents}/changelog.gz", changelog(version, time)),
            layout.Item("share/lintian/overrides/signet", (FOLDER / "lintian-overrides").read_bytes()),
        ]
        layout.stage([*files, *own], tree / "usr")
        layout.stage([layout.Item("etc/default/signet-server", (FOLDER / "signet-server.default").read_bytes())], tree)
        content = sorted(path for path in tree.rglob("*") if path.is_file())
        size = sum(-(-path.stat().st_size // 1024) for path in content) + sum(1 for path in tree.rglob("*") if path.is_dir())
        names = {"VERSION": version, "ARCHITECTURE": architecture, "SIZE": str(size), "DEPENDS": dependencies(programs)}
        control = re.sub(r"@(\w+)@", lambda found: names[found.group(1)], (FOLDER / "control").read_text())
        sums = "".join(
            f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(tree)}\n"
            for path in content
            if path.parts[-3] != "etc"
        )
        (tree / "DEBIAN").mkdir(mode=0o755)
        parts = {"control": control, "md5sums": sums, "conffiles": "/etc/default/signet-server\n"}
        for name, text in {**parts, **{name: (FOLDER / name).read_text() for name in ("postinst", "prerm", "postrm")}}.items():
            (tree / "DEBIAN" / name).write_text(text)
            (tree / "DEBIAN" / name).chmod(0o755 if name in ("postinst", "prerm", "postrm") else 0o644)
        for path in [tree, *tree.rglob("*")]:
            os.utime(path, (time, time))
        command = ["dpkg-deb", "--build", "--root-owner-group", f"-Z{compression}", "--threads-max=1", tree, output]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "SOURCE_DATE_EPOCH": str(time)})
