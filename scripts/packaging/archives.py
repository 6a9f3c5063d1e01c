"""Archives that are the same bytes in every build: sorted names, one time, numbers for owners, no time in gzip's header."""

import gzip
import io
import tarfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Entry:
    """A file (`data`), a symbolic link (`link`) or a directory (neither) of an archive."""

    mode: int = 0o755
    data: bytes | None = None
    link: str | None = None
    user: int = 0
    group: int = 0


def entries(folder: Path, prefix: str = "") -> dict[str, Entry]:
    """What is below a folder, by its path; the prefix is put before each path. All of it belongs to root."""
    found = {}
    for file in sorted(folder.rglob("*")):
        name = prefix + file.relative_to(folder).as_posix()
        if file.is_symlink():
            found[name] = Entry(mode=0o777, link=str(file.readlink()))
        elif file.is_dir():
            found[name] = Entry(mode=file.stat().st_mode & 0o7777)
        else:
            found[name] = Entry(mode=file.stat().st_mode & 0o7777, data=file.read_bytes())
    return found


def tar(content: dict[str, Entry], time: int) -> bytes:
    """A tar archive with the directories that the paths need, in the order of the paths' parts."""
    content = dict(content)
    for name in list(content):
        for parent in Path(name).parents:
            content.setdefault(parent.as_posix(), Entry())
    content.pop(".", None)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(content, key=lambda name: name.split("/")):
            entry, info = content[name], tarfile.TarInfo(name)
            info.mode, info.mtime, info.uid, info.gid = entry.mode, time, entry.user, entry.group
            if entry.link is not None:
                info.type, info.linkname = tarfile.SYMTYPE, entry.link
            elif entry.data is None:
                info.type = tarfile.DIRTYPE
            else:
                info.size = len(entry.data)
            archive.addfile(info, io.BytesIO(entry.data) if entry.data is not None else None)
    return buffer.getvalue()


def gzipped(data: bytes, level: int = 9) -> bytes:
    """The bytes in gzip's format, as `gzip --no-name` writes it."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", fileobj=buffer, mode="wb", compresslevel=level, mtime=0) as stream:
        stream.write(data)
    return buffer.getvalue()
