"""The software bill of materials in CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/)."""

import json
import uuid
from datetime import datetime, timezone

from components import Component

REPOSITORY = "https://github.com/signet-identity/signet"
SPACE = uuid.uuid5(uuid.NAMESPACE_URL, REPOSITORY)


def moment(time: int) -> str:
    """A time in seconds since 1970 as RFC 3339 in UTC."""
    return datetime.fromtimestamp(time, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def licenses(expression: str) -> list[dict]:
    """The license of a component: an id if it is one license, otherwise an expression."""
    return [{"expression": expression}] if " " in expression else [{"license": {"id": expression}}]


def entry(component: Component) -> dict:
    """A package or part as a component; a package that is not in the program has the scope `excluded`."""
    # BoringSSL is there twice, and an address of a part can be without a version.
    reference = component.purl if component.purl.startswith("pkg:swift/") else f"signet-part:{component.name}"
    found = {
        "type": "library", "bom-ref": reference,
        "name": component.name, "version": component.version, "description": component.description,
        "scope": "required" if component.is_linked else "excluded",
        "licenses": licenses(component.license), "copyright": "\n".join(component.copyright), "cpe": component.cpe,
        "purl": component.purl, "externalReferences": [{"type": "vcs", "url": component.url}],
    }  # fmt: skip
    if component.revision:
        found["pedigree"] = {"commits": [{"uid": component.revision, "url": component.url}]}
    return {key: value for key, value in found.items() if value}


def debian_entry(name: str, version: str, architecture: str, digest: str) -> dict:
    """A package of Debian in the container image."""
    purl = f"pkg:deb/debian/{name}@{version.replace(':', '%3A')}?arch={architecture}&distro=bookworm"
    return {
        "type": "library", "bom-ref": purl, "name": name, "version": version, "scope": "optional",
        "hashes": [{"alg": "SHA-256", "content": digest}], "purl": purl,
        "properties": [{"name": "signet:part-of", "value": "container image"}],
    }  # fmt: skip


def document(
    version: str, revision: str, time: int, components: list[Component], debian: list[dict], digests: dict[str, str]
) -> str:
    """The document as JSON text.

    - digests: SHA-256 of each program by its path below the prefix.
    - debian: The packages in the container image, as `debian_entry` makes them.
    """
    own = f"pkg:swift/{REPOSITORY.split('://')[1]}@{version}"
    entries = [entry(component) for component in components] + debian
    root = {
        "type": "application", "bom-ref": own, "name": "signet", "version": version,
        "description": "Authenticator and AM-compatible development server for the command line",
        "components": [
            {"type": "file", "bom-ref": f"signet-file:{path}", "name": path, "hashes": [{"alg": "SHA-256", "content": digest}]}
            for path, digest in sorted(digests.items())
        ],
        "licenses": licenses("Apache-2.0"), "purl": own,
        "externalReferences": [{"type": "vcs", "url": REPOSITORY}],
    }  # fmt: skip
    if revision:
        root["pedigree"] = {"commits": [{"uid": revision, "url": REPOSITORY}]}
    content = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
        "metadata": {
            "timestamp": moment(time), "lifecycles": [{"phase": "build"}], "component": root,
            "tools": {"components": [{"type": "application", "name": "scripts/packaging/release", "version": version}]},
        },
        "components": entries,
        "dependencies": [
            {"ref": own, "dependsOn": sorted(item["bom-ref"] for item in entries if item["scope"] != "excluded")},
            *({"ref": item["bom-ref"]} for item in entries),
        ],
    }  # fmt: skip
    # The number says what the document is about: the same content has the same number.
    number = uuid.uuid5(SPACE, json.dumps(content, sort_keys=True))
    return json.dumps({**content, "serialNumber": f"urn:uuid:{number}"}, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
