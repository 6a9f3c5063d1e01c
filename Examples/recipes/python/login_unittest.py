"""The same with unittest, for a machine without pytest: `python3 -m unittest login_unittest`."""

import unittest
from pathlib import Path

from app import App, claims
from signet_am import AM

CONFIG = Path(__file__).parent.parent / "am.yaml"
MIRA = {"User Name": "mira", "Password": "gangway lantern 42"}


class LoginTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.am = AM(CONFIG)
        cls.addClassCleanup(cls.am.stop)

    def setUp(self):
        self.am.reset()

    def test_login_with_password_and_code(self):
        secret = self.am.enroll("mira", MIRA["Password"])
        session = self.am.log_in("OATHLogin", {**MIRA, "Enter verification code": self.am.code(secret)})
        tokens = App(self.am).sign_in(session)
        self.assertEqual(claims(tokens["id_token"])["sub"], "mira")
        self.assertEqual([entry["status"] for entry in self.am.requests(resource="accessToken")], [200])

    def test_app_refuses_an_id_token_of_another_login(self):
        self.am.admin("POST", "faults", {"kind": "wrong-nonce", "times": 1})
        with self.assertRaisesRegex(ValueError, "nonce"):
            App(self.am).sign_in(self.am.log_in("Login", MIRA))
