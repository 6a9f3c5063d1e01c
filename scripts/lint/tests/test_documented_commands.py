"""The blocks of a page run in one session, in order; the output of a session is compared; the first fault ends the page and is named."""

import importlib.util
import subprocess
import sys
import tempfile
import time
import unittest
from importlib.machinery import SourceFileLoader
from pathlib import Path

COMMAND = Path(__file__).resolve().parents[2] / "documented-commands"
sys.dont_write_bytecode = True
sys.path.insert(0, str(COMMAND.parent / "lint"))

from command_blocks import blocks  # noqa: E402

CI = "<!-- ci -->\n"
SESSION = CI + "```console\n"


def is_shown():
    """The function of the program that compares output."""
    loader = SourceFileLoader("documented_commands", str(COMMAND))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module.is_shown


class Pages(unittest.TestCase):
    def run_pages(self, texts: dict[str, str], *options: str) -> tuple[int, str, str]:
        with tempfile.TemporaryDirectory() as root:
            for path, text in texts.items():
                (Path(root) / path).parent.mkdir(parents=True, exist_ok=True)
                (Path(root) / path).write_text(text)
            (Path(root) / "Makefile").write_text("place:\n\t@pwd\n")
            done = subprocess.run([COMMAND, *options, "--checkout", root], capture_output=True, text=True)
            return done.returncode, done.stdout, done.stderr.replace(root, "ROOT")

    def run_page(self, text: str, *options: str) -> tuple[int, str, str]:
        return self.run_pages({"docs/page.md": text}, *(options or ("ci",)))

    def test_all_blocks_of_a_page_are_one_session(self):
        page = CI + "```sh\nname=mira\ngreet() { echo \"hello $1\"; }\ncd ~\n```\n\n```sh\nexit 9\n```\n" + SESSION + \
            "$ greet $name\nhello mira\n$ pwd\n/home/mira\n$ echo a \\\n  b\na b\n$ cat <<END\n> x\n> END\nx\n```\n"
        status, out, errors = self.run_page(page)
        self.assertEqual((status, errors), (0, ""), out)
        self.assertIn("2 blocks of 1 pages have the mark ci; pages with a fault: 0", out)

    def test_the_first_fault_ends_the_page_and_is_named_and_other_pages_run(self):
        page = "# A\n\n" + CI + "```sh\ntrue\n(exit 3)\necho on > $HOME/x; echo reached\n```\n"
        status, out, errors = self.run_pages({"docs/a.md": page, "docs/b.md": SESSION + "$ echo b\nb\n```\n"}, "ci")
        self.assertEqual(status, 1)
        self.assertIn("a.md:6: failed", errors)
        self.assertIn("docs/a.md:4: failed, the shell ended with 3", errors)
        self.assertEqual(out.count("reached"), 1, "only in the text of the block")
        self.assertIn("-- docs/b.md:2\n$ echo b\nb\n", out)
        self.assertIn("pages with a fault: 1\n  docs/a.md\n", out)

    def test_another_output_is_a_fault(self):
        status, _, errors = self.run_page(SESSION + "$ echo one; echo two\none\nthree\n```\n")
        self.assertEqual(status, 1)
        self.assertIn("docs/page.md:3: the output is another than the page shows", errors)
        self.assertIn("-three\n+two", errors)

    def test_a_command_fails_only_where_the_page_shows_an_error(self):
        failing = "sh -c 'echo signet: no >&2; exit 65'"
        self.assertEqual(self.run_page(SESSION + f"$ {failing}\nsignet: no\n$ echo on\non\n```\n")[0], 0)
        self.assertEqual(self.run_page(SESSION + f"$ {failing}\n```\n")[0], 1)

    def test_a_page_has_a_new_home_and_ends_in_time_with_its_processes(self):
        begun = time.monotonic()
        page = CI + "```sh\n[ -z \"$(ls -A ~)\" ] && [ -z \"${SIGNET_HOME:-}\" ]\nsleep 314159 &\necho \"child $!\"\nsleep 60\n```\n"
        status, out, errors = self.run_page(page, "ci", "--limit", "1")
        self.assertEqual(status, 1)
        self.assertIn("docs/page.md:2: the page did not end within 1.0 seconds", errors)
        self.assertLess(time.monotonic() - begun, 30)
        child = out.split("child ")[-1].split()[0]
        state = Path(f"/proc/{child}/cmdline")
        self.assertFalse(state.exists() and "314159" in state.read_text())

    def test_make_runs_in_the_checkout_and_other_commands_write_beside_it(self):
        page = CI + "```sh\n[ -L Makefile ]\nmake place > place\n[ ! \"$(cat place)\" = \"$PWD\" ] && [ ! -e \"$(cat place)/place\" ]\n```\n"
        status, out, errors = self.run_page(page)
        self.assertEqual((status, errors), (0, ""), out)

    def test_a_command_in_the_background_has_time_for_its_output(self):
        status, out, errors = self.run_page(
            SESSION + "$ (sleep 1; echo ready; sleep 99) &\n[1] 4711\nready\n$ kill %1\n"
            "$ (sleep 1; echo later) &\n$ echo now\nnow\n$ wait $!\nlater\n```\n")
        self.assertEqual((status, errors), (0, ""), out)

    def test_nightly_runs_the_ci_blocks_of_its_pages_too(self):
        nightly = {"docs/a.md": CI + "```sh\na=1\n```\n<!-- nightly -->\n```sh\necho \"a is $a\"\n```\n", "docs/b.md": CI + "```sh\nexit 1\n```\n"}
        status, out, _ = self.run_pages(nightly, "nightly")
        self.assertEqual(status, 0)
        self.assertIn("a is 1\n", out)
        self.assertEqual(self.run_page("```sh\ntrue\n```\n", "ci")[0], 1, "a run without a block is a fault")

    def test_the_list_has_the_blocks_that_are_not_run(self):
        page = CI + "```sh\ntrue\n```\n<!-- not-run: needs a desktop -->\n```sh\nfalse\n```\n```console\n$ true\n```\n"
        status, out, _ = self.run_page(page, "list")
        self.assertEqual(status, 0)
        self.assertEqual(out, "docs/page.md:6: needs a desktop\ndocs/page.md:9: no mark\n3 blocks: 1 ci, 0 nightly, 1 not run, 1 without a mark\n")

    def test_a_script_has_the_commands_for_a_machine_without_the_checkout(self):
        page = CI + "```sh\nmake demo\n```\n" + SESSION + "$ a=1\n$ echo \"a is $a\"\na is 1\n$ sh -c 'exit 3'\nsignet: no\n```\n"
        status, out, _ = self.run_page(page, "script", "docs/page.md")
        self.assertEqual(status, 0)
        self.assertNotIn("make", out)
        done = subprocess.run(["bash", "-c", out], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, "$ a=1\n$ echo \"a is $a\"\na is 1\n$ sh -c 'exit 3'\n"), done.stderr)


class Comparing(unittest.TestCase):
    SAME = [
        ("567277", "012345"),
        ("http://127.0.0.1:8080/am", "http://127.0.0.1:40333/am"),
        ("8AED3CF0  pending  numbers 59 11 34  119 s left", "5FAE6343  pending  numbers 7 11 34  9 s left"),
        ("id 4EC2DDA0-A1F1-8B04-B503-2878F052E114", "id ABCDEFAB-A1F1-8B04-B503-2878F052E11F"),
        ("Made a vault in /home/mira/.local/share/signet", "Made a vault in /tmp/x/home/.local/share/signet"),
        ("state is in ~/.local/x", "state is in /tmp/x/home/.local/x"),
        ("wrote /tmp/signet-demo-PAZWxQ/vault", "wrote /tmp/x/tmp/signet-demo-abc/vault"),
        ("User: demo  password: qx3tqkuihdgmqjzo", "User: demo  password: abcdefghijklmnop"),
        ('{"authId":"eyJ0eXAi…","callbacks":[…', '{"authId":"eyJ0eXAiOiJ","callbacks":[{}]}'),
        ("a\n…\nz", "a\nb\nc\nz"),
        ("a\n…", "a"),
        ("digits: 6", "digits: 6  "),
    ]
    OTHER = [
        ("digits: 6", "digits: 8"), ("digits: 6", "digits: none"), ("Imported 3 accounts", "Imported 4 accounts"), ("567277", "refused"),
        ("a", "a\nb"), ("a\nb", "a"), ("id 8AED3CF0", "id none"), ("a\n…\nz", "a\nb"), ("secret: <secret of 20 bytes>", "secret: KDJ7"),
        ("a.b", "axb"),
    ]  # fmt: skip

    def test_what_differs_between_runs_is_not_compared_and_all_else_is(self):
        compare = is_shown()
        places = {"home": "/tmp/x/home", "temporary": "/tmp/x/tmp"}
        for pairs, expected in ((self.SAME, True), (self.OTHER, False)):
            for shown, output in pairs:
                with self.subTest(shown=shown, output=output):
                    self.assertEqual(compare(output.split("\n"), shown.split("\n"), **places), expected)


class Blocks(unittest.TestCase):
    def test_a_block_has_the_mark_of_the_line_before_it(self):
        page = "1. A step:\n\n   <!-- not-run: a: b -->\n   ```sh\n   if a; then\n       b\n   ```\n\n<!-- ci -->\n\n```sh\nc\n```\n\n````text\n```sh\nd\n```\n````\n"
        found = [(block.line, block.mark, block.reason, block.lines) for block in blocks("a.md", page)]
        self.assertEqual(found, [(4, "not-run", "a: b", ("if a; then", "    b")), (11, None, "", ("c",))])


if __name__ == "__main__":
    unittest.main()
