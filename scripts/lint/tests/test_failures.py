"""The end of a failed run's log shows what failed, and what the run died of, last."""

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

COMMAND = Path(__file__).resolve().parents[2] / "failures"


def event(kind: str, test: str = "", **more) -> str:
    return json.dumps({"kind": "event", "payload": {"kind": kind, "testID": test, "messages": [], **more}})


def issue(test: str, text: str, known: bool = False) -> str:
    place = {"fileID": "Tests/A.swift", "line": 7}
    return event("issueRecorded", test, issue={"isKnown": known, "sourceLocation": place}, messages=[{"text": text}])


class Failures(unittest.TestCase):
    def told(self, events: list[str], log: str) -> list[str]:
        with tempfile.TemporaryDirectory() as root:
            (Path(root) / "events").write_text("\n".join(events))
            (Path(root) / "log").write_text(log)
            command = [COMMAND, f"{root}/events", f"{root}/log", f"{root}/tests.xctest"]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            return done.stdout.split("\n")[2:-1]

    def test_failures_are_told_with_their_places_and_known_ones_are_not(self):
        events = [event("testCaseStarted", "a"), issue("a", "no"), issue("b", "so it is", known=True), event("runEnded")]
        self.assertEqual(self.told(events, "error: something\n"), ["  a, Tests/A.swift:7", "    no", "  error: something"])

    def test_a_run_that_died_tells_what_was_running_and_its_last_words(self):
        events = [
            event("testStarted", "lined up"), event("testCaseStarted", "ended"), event("testCaseEnded", "ended"),
            event("testCaseStarted", "running"), '{"kind": "ev',
        ]
        log = "✔ fine\nA.swift:5: Fatal error: a pity\n1  libc.so.6  0x00ff <unavailable> + 5\nerror: exited with unexpected signal code 4\n"
        self.assertEqual(
            self.told(events, log),
            ["  never ended: running", "  A.swift:5: Fatal error: a pity", "  error: exited with unexpected signal code 4"])

    def test_a_run_without_a_word_is_told_too(self):
        self.assertEqual(self.told([], ""), ["  no test: the run itself"])


if __name__ == "__main__":
    unittest.main()
