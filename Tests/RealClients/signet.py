"""A `signet serve` of its own for one scenario, and requests to it that a user or a tester would send."""

import json
import os
import signal
import subprocess
import tempfile
from urllib.parse import parse_qs, urljoin, urlsplit

import requests

CONFIGURATION = """
users:
  - {name: demo, password: "correct horse", claims: {given_name: Dana, family_name: Demo, email: demo@example.test}}
clients:
  - id: web
    secret: a secret for tests
    redirectURIs: [%(redirect)s]
    postLogoutRedirectURIs: [%(signed_out)s]
    scopes: [openid, profile, email]
    requirePKCE: false
  - id: app
    redirectURIs: [%(redirect)s]
    postLogoutRedirectURIs: [%(signed_out)s]
journeys:
  Login:
    nodes:
      page:
        type: PageNode
        nodes: [{type: UsernameCollectorNode}, {type: PasswordCollectorNode}]
        outcomes: {outcome: password}
      password: {type: DataStoreDecisionNode, outcomes: {true: success, false: failure}}
"""

# The faults of the administration API that change an ID token.
FAULTS_OF_ID_TOKENS = [
    "wrong-issuer",
    "wrong-audience",
    "expired-id-token",
    "unknown-key",
    "alg-none",
    "wrong-nonce",
    "wrong-signature",
]


class Server:
    """A server that ends with the scenario, because it stops when its standard input is closed."""

    def __init__(self, program, redirect="http://127.0.0.1/callback", signed_out="http://127.0.0.1/bye", tls=False):
        self.folder = tempfile.TemporaryDirectory(prefix="signet-clients-")
        self.redirect, self.signed_out = redirect, signed_out
        self.file = os.path.join(self.folder.name, "signet.yaml")
        self.write(CONFIGURATION % {"redirect": redirect, "signed_out": signed_out})
        token_file = os.path.join(self.folder.name, "admin-token")
        self.process = subprocess.Popen(
            [
                program,
                "serve",
                "--config",
                self.file,
                "--port",
                "0",
                "--state",
                "memory",
                "--json",
                "--exit-on-stdin-eof",
                "--admin-token-file",
                token_file,
            ]
            + (["--tls", "--tls-directory", os.path.join(self.folder.name, "tls")] if tls else []),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"PATH": os.environ["PATH"], "HOME": self.folder.name},
        )
        ready = json.loads(self.process.stdout.readline())
        self.url, self.authority = ready["url"], ready.get("authority")
        with open(token_file, encoding="utf-8") as file:
            self.admin_token = file.read().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        finally:
            self.process.stdout.close()
            self.folder.cleanup()

    @property
    def metadata_url(self):
        return f"{self.url}/oauth2/.well-known/openid-configuration"

    def metadata(self):
        return requests.get(self.metadata_url, timeout=10).json()

    def write(self, configuration):
        with open(self.file, "w", encoding="utf-8") as file:
            file.write(configuration)

    def read(self):
        with open(self.file, encoding="utf-8") as file:
            return file.read()

    def reload(self):
        self.process.send_signal(signal.SIGHUP)

    # Requests of a tester.

    def admin(self, method, path, body=None):
        reply = requests.request(
            method, f"{self.url}/admin/{path}", json=body, headers={"Authorization": f"Bearer {self.admin_token}"}, timeout=30
        )
        assert reply.ok, f"{method} {path}: {reply.status_code} {reply.text}"
        return reply.json()

    def fault(self, kind, **parameters):
        """Enables a fault for one request."""
        return self.admin("POST", "faults", {"kind": kind, "times": 1, **parameters})

    # Requests of a user's browser.

    def log_in(self, browser, name="demo", password="correct horse", journey="Login"):
        """Logs a browser in with the requests of an app, so that it has the session cookie."""
        address = f"{self.url}/json/realms/root/authenticate?authIndexType=service&authIndexValue={journey}"
        headers = {"Accept-API-Version": "protocol=1.0,resource=2.1", "Content-Type": "application/json"}
        step = browser.post(address, headers=headers, json={}, timeout=10).json()
        for callback in step["callbacks"]:
            callback["input"][0]["value"] = name if callback["type"] == "NameCallback" else password
        reply = browser.post(address, headers=headers, json=step, timeout=10)
        assert "tokenId" in reply.json(), reply.text
        # The cookie is for 127.0.0.1, and `requests` returns it only to the host that set it.
        browser.cookies.set("iPlanetDirectoryPro", reply.json()["tokenId"], domain=urlsplit(self.url).hostname)
        return reply.json()["tokenId"]

    def visit(self, browser, address, until):
        """Follows redirects from an address, and returns the first address that begins with `until`, which is not requested."""
        for _ in range(10):
            if address.startswith(until):
                return address
            reply = browser.get(address, allow_redirects=False, timeout=10)
            assert reply.is_redirect, f"{address}: {reply.status_code} {reply.text[:500]}"
            address = urljoin(address, reply.headers["Location"])
        raise AssertionError(f"too many redirects, at last to {address}")


def parameters(address):
    """Returns the query parameters of an address."""
    return {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
