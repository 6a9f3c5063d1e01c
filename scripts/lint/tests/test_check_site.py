"""The links of a built site lead to its pages, its sections, its files and the files of the repository; a dead one is named."""

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

COMMAND = Path(__file__).resolve().parents[2] / "check-site"
REPOSITORY = "https://github.com/signet-identity/signet/blob/main/"


class CheckSite(unittest.TestCase):
    def check(self, *references: dict) -> tuple[int, str]:
        with tempfile.TemporaryDirectory() as root:
            root = Path(root)
            pages = {
                "documentation/core.json": {"references": {str(number): each for number, each in enumerate(references)}},
                "documentation/core/store(_:).json": {"sections": [{"anchor": "The-key", "type": "heading"}]},
            }
            for name, page in pages.items():
                (root / "site/data" / name).parent.mkdir(parents=True, exist_ok=True)
                (root / "site/data" / name).write_text(json.dumps(page))
            (root / "site/images").mkdir()
            (root / "site/images/a.svg").write_text("<svg/>")
            (root / "docs").mkdir()
            (root / "docs/a.md").write_text("# A page\n")
            done = subprocess.run([COMMAND, root / "site", root], capture_output=True, text=True)
            return done.returncode, done.stdout

    def test_pages_sections_files_and_other_hosts_are_found(self):
        status, said = self.check(
            {"type": "topic", "url": "/documentation/Core/Store(_:)"},
            {"type": "section", "url": "/documentation/core/store(_:)#The-key"},
            {"type": "section", "url": "/documentation/core#Overview"},
            {"type": "image", "variants": [{"url": "/images/a.svg", "traits": ["1x"]}]},
            {"type": "link", "url": REPOSITORY + "docs/a.md#a-page"},
            {"type": "link", "url": "https://www.rfc-editor.org/rfc/rfc6238"},
            {"type": "unresolvable", "title": "Sendable"},
        )
        self.assertEqual((status, said), (0, "2 pages, 6 links, 1 of them to other hosts: 0 dead links\n"))

    def test_a_dead_link_is_named(self):
        for url in [
            "/documentation/core/gone", "/documentation/core/store(_:)#Gone", "/tutorials/gone", REPOSITORY + "docs/gone.md",
            REPOSITORY + "docs/a.md#gone",
        ]:  # fmt: skip
            with self.subTest(url):
                status, said = self.check({"type": "topic", "url": url})
                self.assertEqual(status, 1, said)
                self.assertIn(f"/documentation/core: the link {url} leads nowhere\n", said)
        status, said = self.check({"type": "image", "variants": [{"url": "/images/gone.svg"}]})
        self.assertEqual(status, 1, said)
        self.assertIn("the link /images/gone.svg leads nowhere", said)

    def test_a_folder_without_documentation_is_a_fault(self):
        with tempfile.TemporaryDirectory() as root:
            self.assertNotEqual(subprocess.run([COMMAND, root], capture_output=True).returncode, 0)


if __name__ == "__main__":
    unittest.main()
