"""Two builds give the same files, each part of the program has its license, and a changed file has no valid signature."""

import hashlib
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest
from importlib.machinery import SourceFileLoader
from pathlib import Path
from unittest import mock

FOLDER = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(FOLDER))

import archives
import components
import deb
import image
import layout
import sbom
import signature

APACHE = "Apache License\nVersion 2.0, January 2004\n"
MIT = 'Copyright (c) 2020 Mira\nPermission is hereby granted, free of charge, to any person\nTHE SOFTWARE IS PROVIDED "AS IS"\n'


def script(name: str):
    """A script without the ending of a Python file, as a module."""
    loader = SourceFileLoader(name, str(FOLDER / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


class Folder(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = Path(scratch.name)

    def write(self, path: str, text: str = "", mode: int = 0o644) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(mode)
        return file


class Archives(Folder):
    def tree(self, name: str, order: list[str], time: int) -> Path:
        for path in order:
            os.utime(self.write(f"{name}/{path}", path, 0o755 if path.endswith("signet") else 0o644), (time, time))
        (self.root / name / "bin/s").symlink_to("signet")
        return self.root / name

    def test_the_same_files_give_the_same_archive_in_every_order_and_at_every_time(self):
        paths = ["bin/signet", "share/a/z", "share/a-b/c", "share/b"]
        first = self.tree("one", paths, 1)
        second = self.tree("two", list(reversed(paths)), 2_000_000_000)
        archive = archives.tar(archives.entries(first), 1000)
        backwards = dict(reversed(archives.entries(second).items()))
        self.assertEqual(archive, archives.tar(backwards, 1000))
        self.assertEqual(archives.gzipped(archive), archives.gzipped(archive))
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            members = {member.name: member for member in files}
        self.assertEqual({(member.mtime, member.uid, member.gid, member.uname) for member in members.values()}, {(1000, 0, 0, "")})
        self.assertEqual([members["bin/signet"].mode, members["share/b"].mode, members["bin/s"].linkname], [0o755, 0o644, "signet"])
        self.assertLess(list(members).index("share"), list(members).index("share/a/z"))

    def test_gzip_has_no_time_and_no_name(self):
        header = archives.gzipped(b"content")[:10]
        self.assertEqual((header[3], header[4:8]), (0, bytes(4)))


class Image(Folder):
    LAYERS = [
        {"etc/passwd": archives.Entry(0o644, b"root")},
        {"usr/bin/signet": archives.Entry(0o755, b"program"), image.HOME: archives.Entry(0o700, user=image.USER, group=image.USER)},
    ]

    def archive(self) -> bytes:
        config = json.loads((image.FOLDER / "config.json").read_text())
        return image.archive(self.LAYERS, ["one", "two"], config, "amd64", "signet:1", 1000)

    def test_two_builds_of_an_image_are_the_same(self):
        self.assertEqual(self.archive(), self.archive())

    def test_the_manifest_and_the_configuration_name_the_layers_by_their_hashes(self):
        with tarfile.open(fileobj=io.BytesIO(self.archive())) as files:
            content = {member.name: files.extractfile(member).read() for member in files if member.isfile()}
        manifest = json.loads(content["manifest.json"])[0]
        config = json.loads(content[manifest["Config"]])
        hashes = [hashlib.sha256(content[layer]).hexdigest() for layer in manifest["Layers"]]
        self.assertEqual(manifest["Layers"], [f"{digest}/layer.tar" for digest in hashes])
        self.assertEqual(config["rootfs"]["diff_ids"], [f"sha256:{digest}" for digest in hashes])
        self.assertEqual(manifest["Config"], f"{hashlib.sha256(content[manifest['Config']]).hexdigest()}.json")
        with tarfile.open(fileobj=io.BytesIO(content[manifest["Layers"][1]])) as layer:
            home = layer.getmember(image.HOME)
        self.assertEqual((home.mode, home.uid, home.isdir()), (0o700, image.USER, True))

    def test_the_image_does_not_run_as_root_and_has_what_its_health_check_runs(self):
        config = json.loads((image.FOLDER / "config.json").read_text())
        self.assertEqual(config["User"], f"{image.USER}:{image.USER}")
        command = config["Healthcheck"]["Test"][1]
        folder, name = command.lstrip("/").rsplit("/", 1)
        self.assertIn(name, image.APPLETS[folder].split())
        self.assertTrue(config["Healthcheck"]["Test"][-1].endswith("/health/ready"))

    def test_the_image_has_both_programs(self):
        files = [layout.Item(path, b"program", 0o755) for path in (*layout.PROGRAMS.values(), "share/man/man1/signet.1")]
        content = image.own(files, b"license")
        entry = json.loads((image.FOLDER / "config.json").read_text())["Entrypoint"][0]
        self.assertIn(entry.lstrip("/"), content)
        self.assertIn("usr/libexec/signet/signet", content)
        self.assertNotIn("usr/share/man/man1/signet.1", content)

    def test_a_package_with_another_hash_is_refused(self):
        package = image.Package("0" * 64, "debian/pool/main/x/x_1_amd64.deb")
        with mock.patch.object(image.urllib.request, "urlopen", return_value=io.BytesIO(b"something else")):
            with self.assertRaisesRegex(SystemExit, "does not have the hash"):
                package.file(self.root / "cache", "20260101T000000Z")
        self.assertFalse((self.root / "cache").exists())

    def test_each_package_of_the_list_is_locked_for_both_architectures(self):
        lines = (image.FOLDER / "packages.txt").read_text().splitlines()
        wanted = {line.split()[0] for line in lines if line.strip() and not line.startswith("#")}
        names = []
        for architecture in ("amd64", "arm64"):
            _, packages = image.locked(architecture)
            self.assertTrue(all(package.parts[2] in (architecture, "all") for package in packages))
            names.append({package.parts[0] for package in packages})
        self.assertEqual((wanted - names[0], names[0] ^ names[1]), (set(), set()))


class Parts(Folder):
    def setUp(self):
        super().setUp()
        self.write("build/checkouts/swift-one/LICENSE.txt", APACHE)
        self.write("build/checkouts/swift-one/NOTICE.txt", "Copyright 2020 The One Project\n")
        self.write("build/checkouts/Two/LICENSE", MIT)
        self.write("build/checkouts/tool/LICENSE", MIT)
        target = self.root / "build/x86_64/release"
        self.write(
            "build/x86_64/release/signet.product/Objects.LinkFileList", f"{target}/One.build/a.o\n{target}/CTwo.build/deep/b.c.o\n"
        )
        self.write("build/x86_64/release/signet-front.product/Objects.LinkFileList", f"{target}/Front.build/a.o\n")
        self.write("build/x86_64/release/One.build/output-file-map.json", '{"/x/checkouts/swift-one/Sources/a.swift": {}}')
        self.write("build/x86_64/release/CTwo.build/deep/b.c.d", "b.o: /x/checkouts/Two/Sources/b.c /x/checkouts/Two/b.h")
        pins = [self.pin("swift-one"), self.pin("Two"), self.pin("tool")]
        self.resolved = self.write("Package.resolved", json.dumps({"pins": pins}))
        self.write("swift/share/swift/LICENSE.txt", APACHE + "## Runtime Library Exception to the Apache 2.0 License: ##\n")
        self.write("swift/lib/swift_static/_foundation_unicode/uvernum.h", '#define U_ICU_VERSION "76.1"')

    @staticmethod
    def pin(name: str) -> dict:
        state = {"revision": hashlib.sha1(name.encode()).hexdigest(), "version": "1.2.3"}
        return {"identity": name.lower(), "location": f"https://github.com/example/{name}.git", "state": state}

    def linked(self) -> list[components.Component]:
        with mock.patch.object(components, "toolchain", return_value=(self.root / "swift", "6.3.1")):
            return components.linked(self.root / "build", self.resolved)

    def document(self) -> dict:
        return json.loads(sbom.document("0.1.0", "ab" * 20, 1000, self.linked(), [], {"bin/signet": "00" * 32}))

    def test_every_component_has_a_name_version_license_and_purl(self):
        document = self.document()
        self.assertEqual((document["bomFormat"], document["specVersion"]), ("CycloneDX", "1.6"))
        for item in document["components"]:
            self.assertTrue(item["version"] and item["licenses"] and item["purl"].startswith("pkg:"), item["name"])
        references = [item["bom-ref"] for item in document["components"]]
        self.assertEqual(len(references), len(set(references)))

    def test_the_bill_of_materials_says_what_is_linked(self):
        scopes = {item["name"]: item["scope"] for item in self.document()["components"]}
        self.assertEqual((scopes["swift-one"], scopes["Two"], scopes["tool"]), ("required", "required", "excluded"))
        self.assertIn("icu", scopes)
        self.assertNotIn("llhttp", scopes)

    def test_what_only_the_small_program_is_linked_from_is_in_the_bill_of_materials(self):
        links = self.root / "build/x86_64/release/signet-front.product/Objects.LinkFileList"
        links.write_text(f"{self.root}/build/x86_64/release/Tool.build/a.o\n")
        self.write("build/x86_64/release/Tool.build/output-file-map.json", '{"/x/checkouts/tool/Sources/a.swift": {}}')
        scopes = {item["name"]: item["scope"] for item in self.document()["components"]}
        self.assertEqual(scopes["tool"], "required")

    def test_a_program_that_is_not_built_stops_the_release(self):
        (self.root / "build/x86_64/release/signet-front.product/Objects.LinkFileList").unlink()
        with self.assertRaisesRegex(SystemExit, "`signet-front` is linked from"):
            self.linked()

    def test_the_bill_of_materials_has_the_hash_of_each_program(self):
        files = self.document()["metadata"]["component"]["components"]
        self.assertEqual([(item["name"], item["hashes"][0]["content"]) for item in files], [("bin/signet", "00" * 32)])

    def test_the_same_parts_give_the_same_document(self):
        self.assertEqual(self.document(), self.document())

    def test_the_notices_have_the_texts_of_what_is_linked_and_no_others(self):
        notices = components.notices(self.linked())
        self.assertIn("The One Project", notices)
        self.assertIn("Copyright (c) 2020 Mira", notices)
        self.assertIn("UNICODE LICENSE V3", notices)
        self.assertNotRegex(notices, r"(?m)^  tool ")

    def test_the_part_of_gcc_has_the_version_whose_libraries_are_linked(self):
        versions = {part.name: part.version for part in self.linked()}
        setup = (layout.ROOT / "scripts/setup").read_text()
        self.assertEqual(set(re.findall(r"lib(?:gcc|stdc\+\+)-(\d+)-dev", setup)), {versions["gcc-runtime"]})

    def test_a_package_without_a_license_stops_the_release(self):
        (self.root / "build/checkouts/Two/LICENSE").unlink()
        with self.assertRaisesRegex(SystemExit, "Two: there is no LICENSE"):
            self.linked()

    def test_an_unknown_license_stops_the_release(self):
        self.write("build/checkouts/Two/LICENSE", "All rights reserved.")
        with self.assertRaisesRegex(SystemExit, "Two: .* does not know this license"):
            self.linked()

    def test_a_linked_package_that_is_not_pinned_stops_the_release(self):
        self.resolved.write_text(json.dumps({"pins": [self.pin("swift-one")]}))
        with self.assertRaisesRegex(SystemExit, "Two, which packaging/Package.resolved does not have"):
            self.linked()

    def test_each_license_that_debians_copyright_names_has_a_paragraph(self):
        text = deb.copyright(self.linked())
        named = set(re.findall(r"(?m)^Files:.*\nCopyright:(?:.*\n)+?License: (.+)$", text))
        self.assertEqual(named, set(re.findall(r"(?m)^License: (.+)\n ", text)))
        self.assertNotIn("tool", text)


class Reproducing(Folder):
    def program(self, name, hashes):
        """A program of this machine with a section of hashes as Swift writes it."""
        text = self.write(f"{name}.hashes", hashes)
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["objcopy", "--add-section", f".swift_modhash={text}", "/bin/true", self.root / name], check=True)
        return self.root / name

    def test_programs_that_differ_in_hashes_become_equal(self):
        one, other = self.program("one", "first build"), self.program("other", "other build")
        self.assertNotEqual(one.read_bytes(), other.read_bytes())
        before = one.read_bytes()[layout.section(one, ".note.gnu.build-id")]
        for program in (one, other):
            layout.make_reproducible(program)
        self.assertEqual(one.read_bytes(), other.read_bytes())
        self.assertEqual(set(one.read_bytes()[layout.section(one, ".swift_modhash")]), {0})
        self.assertNotEqual(one.read_bytes()[layout.section(one, ".note.gnu.build-id")], before)
        self.assertEqual(subprocess.run([one]).returncode, 0)

    def prepared(self, folder, hashes):
        """What a release is packed from, of programs of this machine."""
        for name in layout.PROGRAMS:
            self.program(f"{folder}/built/{name}", hashes)
        manual = self.write("manual", '#!/bin/sh\necho page > "$3/signet.1"\n', 0o755)
        layout.prepare(self.root / folder / "built", "notices", self.root / folder / "package", manual, 1000)
        return self.root / folder / "package"

    def test_both_programs_of_two_builds_become_equal(self):
        one, other = self.prepared("one", "first build"), self.prepared("other", "other build")
        for name in layout.PROGRAMS:
            self.assertNotEqual((self.root / "one/built" / name).read_bytes(), (self.root / "other/built" / name).read_bytes())
            self.assertEqual((one / name).read_bytes(), (other / name).read_bytes(), name)

    def test_without_one_of_the_programs_nothing_is_prepared(self):
        self.program("built/signet", "a build")
        with self.assertRaisesRegex(SystemExit, "there is no .*/signet-front"):
            layout.prepare(self.root / "built", "notices", self.root / "package", self.root / "manual", 1000)

    def test_a_small_program_that_loads_a_library_beside_glibc_stops_the_release(self):
        layout.check_libraries(self.program("quick", "a build"))
        slow = next(tool for tool in (Path("/bin/bash"), Path("/usr/bin/python3"), Path("/usr/bin/git")) if tool.is_file())
        with self.assertRaisesRegex(SystemExit, "loads lib"):
            layout.check_libraries(slow)

    def test_a_program_without_the_section_is_refused(self):
        with self.assertRaises(SystemExit):
            layout.make_reproducible(Path("/bin/true"))


class Installing(Folder):
    def setUp(self):
        super().setUp()
        self.prepared = self.root / "package"
        self.write("package/signet", "program", 0o755)
        self.write("package/signet-front", "small program", 0o755)
        self.write("package/man/signet.1", "page")
        for shell in layout.COMPLETIONS:
            self.write(f"package/completions/{shell}", shell)
        self.write(f"package/{layout.NOTICES}", "notices")

    def run_install(self, *arguments: str) -> subprocess.CompletedProcess:
        command = [FOLDER / "install", *arguments, "--prefix", "/opt/signet", "--destdir", self.root / "tree"]
        return subprocess.run(command, capture_output=True, text=True, umask=0o077)

    def files(self) -> set[str]:
        root = self.root / "tree/opt/signet"
        return {file.relative_to(root).as_posix() for file in root.rglob("*") if file.is_file()}

    def test_the_files_are_those_of_the_list_and_the_units_name_the_prefix(self):
        self.assertEqual(self.run_install(self.prepared).stderr, "")
        listed = {item.path for item in layout.items(self.prepared, "/opt/signet")}
        self.assertEqual(self.files(), listed | {"share/signet/installed.txt"})
        root = self.root / "tree/opt/signet"
        for unit, manager in layout.UNITS.items():
            text = (root / "lib/systemd" / manager / unit).read_text()
            self.assertNotIn("@PREFIX@", text)
            self.assertEqual("ExecStart=/opt/signet/bin/signet " in text, unit.endswith(".service"))
        self.assertIn("share/polkit-1/actions/org.signet-identity.approve.policy", listed)
        paths = ("bin/signet", "libexec/signet/signet", "share/man/man1/signet.1", "share", "libexec/signet")
        modes = [(root / path).stat().st_mode & 0o777 for path in paths]
        self.assertEqual(modes, [0o755, 0o755, 0o644, 0o755, 0o755])

    def test_the_small_program_is_the_command_and_finds_the_full_one(self):
        found = {item.path: item.data for item in layout.items(self.prepared, "/usr")}
        self.assertEqual((found["bin/signet"], found["libexec/signet/signet"]), (b"small program", b"program"))
        # It leaves out its own name and directory, and appends the path of the full program.
        source = (layout.ROOT / "Sources/signet-front/Front.swift").read_text()
        appended = re.search(r"dropLast\(2\)\s.*\(parts \+ \[(.*?)\]\)", source, re.S).group(1)
        self.assertEqual("/".join(re.findall(r'"(.*?)"', appended)), layout.PROGRAMS["signet"])
        self.assertEqual(len(Path(layout.PROGRAMS["signet-front"]).parts), 2)

    def test_uninstall_removes_what_install_put_there_and_nothing_else(self):
        other = self.write("tree/opt/signet/share/man/man1/other.1", "other")
        self.run_install(self.prepared)
        done = self.run_install("--uninstall")
        self.assertEqual((done.returncode, self.files()), (0, {"share/man/man1/other.1"}))
        other.unlink()
        left = sorted(path.relative_to(self.root / "tree").as_posix() for path in (self.root / "tree").rglob("*"))
        self.assertEqual(left, ["opt", "opt/signet", "opt/signet/share", "opt/signet/share/man", "opt/signet/share/man/man1"])

    def test_a_second_uninstall_says_that_there_is_nothing(self):
        self.run_install(self.prepared)
        self.run_install("--uninstall")
        done = self.run_install("--uninstall")
        self.assertEqual((done.returncode, "nothing to remove" in done.stderr), (1, True))

    def test_a_newer_version_removes_what_it_does_not_have(self):
        self.write("package/man/signet-old.1", "page")
        self.run_install(self.prepared)
        (self.prepared / "man/signet-old.1").unlink()
        self.run_install(self.prepared)
        self.assertNotIn("share/man/man1/signet-old.1", self.files())
        self.run_install("--uninstall")
        self.assertEqual(self.files(), set())

    def test_a_list_with_a_path_outside_of_the_prefix_is_refused(self):
        outside = self.write("tree/opt/other", "other")
        self.write("tree/opt/signet/share/signet/installed.txt", "../other\n")
        done = self.run_install("--uninstall")
        self.assertEqual((done.returncode, outside.exists()), (1, True))

    def test_debians_files_are_the_same_ones_in_debians_places(self):
        def plain(items):
            return {item.path.removesuffix(".gz") for item in items}

        ours, debians = plain(layout.items(self.prepared, "/usr")), plain(layout.items(self.prepared, "/usr", debian=True))
        self.assertEqual(ours - debians, {"share/zsh/site-functions/_signet", "share/doc/signet/LICENSE"})
        self.assertEqual(debians - ours, {layout.DEBIAN_ZSH})


class Versions(unittest.TestCase):
    def test_commands_and_the_agent_compare_the_version_of_the_program(self):
        program = subprocess.run([layout.ROOT / "scripts/version"], check=True, capture_output=True, text=True).stdout.strip()
        source = (layout.ROOT / "Sources/AgentWire/AgentVersion.swift").read_text()
        self.assertEqual(re.search(r'current = "(.*)"', source).group(1), program)


class Signatures(Folder):
    def setUp(self):
        super().setUp()
        self.key = self.new_key("key")
        public = self.key.with_name("key.pub").read_text()
        self.signers = self.write("signers", f'{signature.NAMESPACE} namespaces="{signature.NAMESPACE}" {public}')
        self.sums = self.write("SHA256SUMS", "00  signet.tar.gz\n")

    def new_key(self, name: str) -> Path:
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.root / name], check=True)
        return self.root / name

    def test_a_signature_of_the_key_is_valid(self):
        signature.signed(self.sums, self.key, self.signers)
        self.assertTrue(signature.is_signed(self.sums, self.signers))

    def test_a_changed_file_is_refused(self):
        signature.signed(self.sums, self.key, self.signers)
        self.sums.write_text("01  signet.tar.gz\n")
        self.assertFalse(signature.is_signed(self.sums, self.signers))

    def test_a_file_without_a_signature_is_refused(self):
        self.assertFalse(signature.is_signed(self.sums, self.signers))

    def test_another_key_signs_nothing(self):
        with self.assertRaisesRegex(SystemExit, "is not the key of signers"):
            signature.signed(self.sums, self.new_key("other"), self.signers)
        self.assertFalse((self.root / "SHA256SUMS.sig").exists())

    def test_the_list_of_signers_has_the_public_key_of_the_repository(self):
        kind, key = (layout.PACKAGING / "release-key.pub").read_text().split()[:2]
        lines = signature.SIGNERS.read_text().splitlines()
        self.assertIn(f'{signature.NAMESPACE} namespaces="{signature.NAMESPACE}" {kind} {key}', lines)


class Releases(Folder):
    def test_the_hashes_are_in_the_form_that_sha256sum_checks(self):
        self.write("dist/b", "b")
        self.write("dist/a", "a")
        sums = script("release").sums(self.root / "dist")
        self.write("dist/SHA256SUMS", sums)
        self.assertEqual([line[66:] for line in sums.splitlines()], ["a", "b"])
        subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=self.root / "dist", check=True)

    def test_without_a_key_nothing_is_signed(self):
        with mock.patch.dict(os.environ, {"SIGNET_RELEASE_KEY": ""}):
            self.assertIsNone(script("release").signing_key())

    def test_a_key_that_is_missing_stops_the_release(self):
        with mock.patch.dict(os.environ, {"SIGNET_RELEASE_KEY": str(self.root / "none")}):
            with self.assertRaisesRegex(SystemExit, "there is no such file"):
                script("release").signing_key()


if __name__ == "__main__":
    unittest.main()
