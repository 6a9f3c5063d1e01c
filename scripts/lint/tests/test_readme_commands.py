"""The README's commands run in order, in one session a block, and the first fault stops them."""

import subprocess
import tempfile
import unittest
from pathlib import Path

COMMAND = Path(__file__).resolve().parents[2] / "readme-commands"


class ReadmeCommands(unittest.TestCase):
    def run_readme(self, text: str) -> tuple[int, str, str]:
        with tempfile.TemporaryDirectory() as root:
            readme = Path(root) / "README.md"
            readme.write_text(text)
            done = subprocess.run([COMMAND, readme], capture_output=True, text=True)
            return done.returncode, done.stdout, done.stderr

    def test_marked_blocks_run_as_written(self):
        readme = "<!-- ci -->\n```sh\n# a remark\ncd /\npwd\n```\n```sh\necho unmarked\n```\n\n<!-- ci -->\n\n```sh\necho a \\\n  b\n```\n"
        status, out, _ = self.run_readme(readme)
        self.assertEqual((status, out), (0, "$ cd /\n$ pwd\n/\n$ echo a \\\n  b\na b\n"))

    def test_the_first_fault_stops_them_and_is_named(self):
        status, out, errors = self.run_readme("# R\n\n<!-- ci -->\n```sh\ntrue\n(exit 3)\necho on\n```\n")
        self.assertEqual((status, out), (3, "$ true\n$ (exit 3)\n"))
        self.assertEqual(errors, "README.md:6: failed\n")

    def test_a_readme_without_commands_is_a_fault(self):
        self.assertEqual(self.run_readme("```sh\necho unmarked\n```\n")[0], 1)


if __name__ == "__main__":
    unittest.main()
