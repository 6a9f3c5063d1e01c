"""The container image as an archive that `docker load`, `podman load` and `skopeo copy docker-archive:` read; no daemon makes it.

The image has two layers. The first has files of Debian packages whose hashes packaging/image/packages.ARCHITECTURE.lock names, and
accounts; the second has `signet`. The format is that of https://github.com/moby/docker-image-spec, version 1.2.
"""

import hashlib
import io
import json
import re
import subprocess
import sys
import tarfile
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import layout
from archives import Entry, tar
from sbom import REPOSITORY, debian_entry, moment

FOLDER = layout.PACKAGING / "image"
NAME = "ghcr.io/signet-identity/signet"
USER = 10001
HOME = "var/lib/signet"
#: Kept of /usr/share/doc: the licenses. The conversions of libc (gconv) are for character sets that `signet` does not read.
DROPPED = re.compile(
    r"usr/share/(?:man|locale|lintian|bug|doc-base|info|menu|pixmaps|base-files|initramfs-tools)(?:/|$)"
    r"|usr/share/doc/(?:[^/]+/(?!copyright$)|.*\.gz$)|usr/lib/[^/]+/gconv(?:/|$)|usr/sbin/update-ca-certificates$"
    r"|etc/(?:update-motd\.d|motd|profile\.d)(?:/|$)|(?:home|boot|proc|sys|dev)(?:/|$)"
)
#: What busybox is called as.
APPLETS = {
    "bin": "cat chmod cp date dd df du echo false grep gzip hostname kill ln ls mkdir mktemp more mv ping ps pwd rm rmdir sed sh "
    "sleep stat sync tar touch true uname vi which",
    "usr/bin": "awk basename clear cut diff dirname env expr find free head id killall less md5sum nc nslookup od printf readlink "
    "realpath seq sha256sum sort tail tee test timeout top tr uniq watch wc wget whoami xargs xxd",
}
ACCOUNTS = {
    "etc/passwd": f"root:x:0:0:root:/root:/usr/sbin/nologin\nsignet:x:{USER}:{USER}:Signet:/{HOME}:/bin/sh\n",
    "etc/group": f"root:x:0:\nsignet:x:{USER}:\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
}


@dataclass(frozen=True)
class Package:
    """A file of the lock file."""

    digest: str
    path: str

    @property
    def parts(self) -> list[str]:
        """The name, the version and the architecture."""
        name = urllib.parse.unquote(self.path.rsplit("/", 1)[-1].removesuffix(".deb"))
        return name.split("_")

    def file(self, cache: Path, snapshot: str) -> Path:
        """The package, from the cache or the network. Fails when its hash is a different one."""
        kept = cache / f"{self.digest}.deb"
        if kept.is_file() and hashlib.sha256(kept.read_bytes()).hexdigest() == self.digest:
            return kept
        archive, _, path = self.path.partition("/")
        path = urllib.parse.quote(path)
        for address in (
            f"http://deb.debian.org/{archive}/{path}",
            f"https://snapshot.debian.org/archive/{archive}/{snapshot}/{path}",
        ):
            try:
                with urllib.request.urlopen(address, timeout=60) as response:
                    data = response.read()
            except (urllib.error.URLError, TimeoutError) as error:
                print(f"release: {address}: {error}", file=sys.stderr)
                continue
            if hashlib.sha256(data).hexdigest() != self.digest:
                sys.exit(f"release: {address} does not have the hash that the lock file names")
            cache.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(data)
            return kept
        sys.exit(f"release: {self.path} cannot be fetched; scripts/packaging/lock-image writes a list of the current packages")


def locked(architecture: str) -> tuple[str, list[Package]]:
    """The time of the snapshot, and the packages of the image."""
    text = (FOLDER / f"packages.{architecture}.lock").read_text()
    lines = [line.split("  ", 1) for line in text.splitlines() if not line.startswith("#")]
    return re.search(r"^# snapshot (\S+)$", text, re.M).group(1), [Package(*line) for line in lines]


def unpacked(archive: bytes) -> dict[str, Entry]:
    """The content of a package that the image keeps."""
    found = {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        for member in files:
            name = member.name.removeprefix("./").rstrip("/")
            if not name or name == "." or DROPPED.match(name):
                continue
            if member.issym():
                found[name] = Entry(mode=0o777, link=member.linkname)
            elif member.islnk():
                found[name] = found[member.linkname.removeprefix("./")]
            elif member.isdir():
                found[name] = Entry(mode=member.mode, user=member.uid, group=member.gid)
            elif member.isfile():
                found[name] = Entry(member.mode & 0o777, files.extractfile(member).read())
    return found


def base(packages: list[Path]) -> dict[str, Entry]:
    """The first layer: the files of the packages, the accounts, the names of busybox, and the authorities in one file."""
    content: dict[str, Entry] = {}
    for package in packages:
        done = subprocess.run(["dpkg-deb", "--fsys-tarfile", package], check=True, stdout=subprocess.PIPE)
        content.update(unpacked(done.stdout))
        control = subprocess.run(["dpkg-deb", "--field", package], check=True, stdout=subprocess.PIPE).stdout
        name = re.search(rb"^Package: (\S+)$", control, re.M).group(1).decode()
        # Where scanners look for the packages of an image without dpkg.
        content[f"var/lib/dpkg/status.d/{name}"] = Entry(0o644, control)
    content.update({name: Entry(0o644, text.encode()) for name, text in ACCOUNTS.items()})
    for folder, names in APPLETS.items():
        for name in names.split():
            content.setdefault(f"{folder}/{name}", Entry(0o777, link="/bin/busybox"))
    authorities = sorted(
        name for name in content if name.startswith("usr/share/ca-certificates/mozilla/") and name.endswith(".crt")
    )
    bundle = b"".join(content[name].data.rstrip(b"\n") + b"\n" for name in authorities)
    content["etc/ssl/certs/ca-certificates.crt"] = Entry(0o644, bundle)
    for name in authorities:
        del content[name]
    content["tmp"] = Entry(0o1777)
    return content


def own(files: list[layout.Item], license: bytes) -> dict[str, Entry]:
    """The second layer: the programs, their licenses, and the directory of the state."""
    content = {f"usr/{item.path}": Entry(item.mode, item.data) for item in files if item.path in layout.PROGRAMS.values()}
    documents = [item for item in files if item.path.startswith("share/doc/") and "THIRD-PARTY" in item.path]
    content.update({f"usr/{item.path}": Entry(item.mode, item.data) for item in documents})
    content["usr/share/doc/signet/copyright"] = Entry(0o644, license)
    content[HOME] = Entry(0o700, user=USER, group=USER)
    return content


def missing_libraries(content: dict[str, Entry]) -> list[str]:
    """The libraries that a program or library of the image is linked to and that the image does not have."""
    here = {Path(name).name for name in content}
    with tempfile.TemporaryDirectory() as scratch:
        names = []
        for number, (name, entry) in enumerate(content.items()):
            if entry.data is not None and entry.data.startswith(b"\x7fELF"):
                (Path(scratch) / f"{number}").write_bytes(entry.data)
                names.append(f"{number}")
        done = subprocess.run(
            ["readelf", "--dynamic", "--wide", *names], cwd=scratch, stdout=subprocess.PIPE, text=True, check=True
        )
    return sorted(set(re.findall(r"\(NEEDED\).*\[(.+)\]", done.stdout)) - here)


def archive(layers: list[dict[str, Entry]], comments: list[str], config: dict, architecture: str, tag: str, time: int) -> bytes:
    """The image with its layers, the lowest first."""
    blobs = [tar(layer, time) for layer in layers]
    digests = [hashlib.sha256(blob).hexdigest() for blob in blobs]
    document = {
        "architecture": architecture, "os": "linux", "created": moment(time), "config": config,
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}" for digest in digests]},
        "history": [{"created": moment(time), "created_by": comment} for comment in comments],
    }  # fmt: skip
    text = json.dumps(document, sort_keys=True, separators=(",", ":")).encode()
    name = f"{hashlib.sha256(text).hexdigest()}.json"
    manifest = [{"Config": name, "RepoTags": [tag], "Layers": [f"{digest}/layer.tar" for digest in digests]}]
    files = {name: Entry(0o644, text), "manifest.json": Entry(0o644, json.dumps(manifest, sort_keys=True).encode())}
    files.update({f"{digest}/layer.tar": Entry(0o644, blob) for digest, blob in zip(digests, blobs)})
    return tar(files, time)


def build(files: list[layout.Item], license: bytes, version: str, revision: str, architecture: str, time: int,
          cache: Path) -> tuple[bytes, list[dict]]:  # fmt: skip
    """The image, and its Debian packages for the bill of materials. The files are those for the prefix /usr."""
    snapshot, packages = locked(architecture)
    first, second = base([package.file(cache, snapshot) for package in packages]), own(files, license)
    if missing := missing_libraries({**first, **second}):
        sys.exit(f"release: the image lacks {', '.join(missing)}; correct packaging/image/packages.txt, and run lock-image")
    config = json.loads((FOLDER / "config.json").read_text())
    config["Labels"] = {
        "org.opencontainers.image.title": "signet", "org.opencontainers.image.version": version,
        "org.opencontainers.image.description": "AM-compatible server for development and tests",
        "org.opencontainers.image.url": REPOSITORY,
        "org.opencontainers.image.source": REPOSITORY, "org.opencontainers.image.licenses": "Apache-2.0",
        **({"org.opencontainers.image.revision": revision} if revision else {}),
    }  # fmt: skip
    comments = [f"Debian 12, packages of {snapshot}", f"signet {version}"]
    data = archive([first, second], comments, config, architecture, f"{NAME}:{version}", time)
    return data, [debian_entry(*package.parts, package.digest) for package in packages]
