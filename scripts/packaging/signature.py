"""The signature of SHA256SUMS, with OpenSSH's format for files (ssh-keygen(1), `-Y sign`)."""

import subprocess
import sys
from pathlib import Path

import layout

NAMESPACE = "signet-release"
SIGNERS = layout.PACKAGING / "allowed_signers"


def sign(file: Path, key: Path) -> Path:
    """Writes FILE.sig."""
    signature = file.with_name(f"{file.name}.sig")
    signature.unlink(missing_ok=True)
    subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", NAMESPACE, file], check=True)
    return signature


def is_signed(file: Path, signers: Path = SIGNERS) -> bool:
    """Whether FILE.sig is a signature of the file by a key of the list."""
    command = ["ssh-keygen", "-q", "-Y", "verify", "-f", signers, "-I", NAMESPACE, "-n", NAMESPACE, "-s", f"{file}.sig"]
    with file.open("rb") as content:
        return subprocess.run(command, stdin=content, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def signed(file: Path, key: Path, signers: Path = SIGNERS) -> Path:
    """Writes FILE.sig with the project's key. Fails when the key is a different one."""
    signature = sign(file, key)
    if not is_signed(file, signers):
        signature.unlink()
        sys.exit(f"release: {key} is not the key of {signers.name}, so users could not check the signature. Nothing was signed.")
    return signature
