"""An AM for tests: starts `signet serve`, and drives its logins, clock, faults, emails and request log.

Copy this file beside your tests. It needs Python 3.9 and no package.
"""

import base64
import hashlib
import hmac
import json
import os
import shutil
import struct
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request


class Refused(Exception):
    """A response with an error status, with its body."""

    def __init__(self, status, body):
        super().__init__(f"{status}: {body}")
        self.status = status
        self.body = body


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Redirects are answers: the code of an authorization is in one."""

    def redirect_request(self, *arguments):
        return None


_opener = urllib.request.build_opener(_NoRedirect)


class AM:
    """A running `signet serve`. Use it in a `with` block, or call `stop`."""

    def __init__(self, config, program="signet"):
        self._folder = tempfile.mkdtemp(prefix="am-")
        ready = os.path.join(self._folder, "ready.json")
        self._log = open(os.path.join(self._folder, "am.log"), "wb")
        # The server also ends when its standard input does, so it never outlives the tests.
        self._process = subprocess.Popen(
            [program, "serve", "--config", str(config), "--state", "memory", "--port", "0", "--admin",
             "--ready-file", ready, "--exit-on-stdin-eof"],
            stdin=subprocess.PIPE, stdout=self._log, stderr=self._log)
        try:
            self._wait_for(ready)
            with open(ready) as file:
                facts = json.load(file)
            self.url = facts["url"]
            with open(facts["admin"]["tokenFile"]) as file:
                self._token = file.read().strip()
        except BaseException:
            self.stop()
            raise

    def _wait_for(self, path, seconds=30):
        end = time.monotonic() + seconds
        while not os.path.exists(path):
            if self._process.poll() is not None or time.monotonic() > end:
                raise RuntimeError("signet serve did not start:\n" + self.log())
            time.sleep(0.02)

    def log(self):
        """What the server has printed."""
        with open(self._log.name, errors="replace") as file:
            return file.read()

    def stop(self):
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()
        shutil.rmtree(self._folder)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    # Requests

    def send(self, method, path, body=None, headers=None):
        """Sends a request, with a dictionary as JSON or a string as a form, and returns its JSON, or `Location` of a redirect."""
        headers = dict(headers or {})
        if isinstance(body, dict):
            headers["Content-Type"] = "application/json"
            body = json.dumps(body)
        url = path if "://" in path else self.url + path
        request = urllib.request.Request(url, body.encode() if body is not None else None, headers, method=method)
        try:
            with _opener.open(request, timeout=30) as response:
                return json.loads(response.read() or b"null")
        except urllib.error.HTTPError as error:
            with error:
                if error.code in (302, 303):
                    return error.headers["Location"]
                raise Refused(error.code, error.read().decode()) from None

    def admin(self, method, path, body=None):
        """A request to the administration API, for example `admin("POST", "clock/advance", {"seconds": 30})`."""
        return self.send(method, f"/admin/{path}", body, {"Authorization": f"Bearer {self._token}"})

    def reset(self):
        """Begins anew: users, sessions, clock and faults as in the configuration, and an empty request log."""
        self.admin("POST", "reset", {})
        self.admin("DELETE", "request-log")

    def requests(self, **conditions):
        """The entries of the request log, for example `requests(resource="accessToken", status=200)`."""
        return self.admin("GET", "request-log?" + urllib.parse.urlencode(conditions))["entries"]

    def emails(self, user):
        """The emails to a user."""
        return self.admin("GET", "emails?" + urllib.parse.urlencode({"user": user}))["emails"]

    # Logins

    def step(self, answer=None, **query):
        """Sends the answer to a step of a journey, or starts one, and returns the next step, or the end with its `tokenId`."""
        path = "/json/realms/root/authenticate?" + urllib.parse.urlencode(query)
        return self.send("POST", path, answer or {}, {"Accept-API-Version": "resource=2.1"})

    def start(self, journey):
        """Starts a journey, and returns its first step."""
        return self.step(authIndexType="service", authIndexValue=journey)

    def log_in(self, journey, answers):
        """Runs a journey with the answer to each prompt, and returns the session: `{"User Name": "mira", "Password": "..."}`."""
        step = self.start(journey)
        while "tokenId" not in step:
            step = self.step(fill(step, answers))
        return step["tokenId"]

    def resume(self, link):
        """Continues the journey that an email was sent for, by the link in it, and returns the next step or the end."""
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(link).query)
        return self.step(suspendedId=query["suspendedId"][0])

    # One-time codes

    def enroll(self, user, password):
        """Registers a device for one-time codes with the journey OATHRegistration, and returns its secret in base32."""
        shown = self.step(fill(self.start("OATHRegistration"), {"User Name": user, "Password": password}))
        values = [output["value"] for callback in shown["callbacks"] for output in callback["output"]]
        uri = next(value for value in values if str(value).startswith("otpauth:"))
        secret = urllib.parse.parse_qs(urllib.parse.urlsplit(uri).query)["secret"][0]
        self.step(fill(self.step(shown), {"Enter verification code": self.code(secret)}))
        self.admin("POST", "clock/advance", {"seconds": 30})  # the server accepts each code once
        return secret

    def code(self, secret):
        """The one-time code (RFC 6238) of a secret, at the time of the server's clock."""
        key = base64.b32decode(secret + "=" * (-len(secret) % 8))
        counter = int(self.admin("GET", "clock")["seconds"]) // 30
        digest = hmac.new(key, struct.pack(">Q", counter), hashlib.sha1).digest()
        number = struct.unpack(">I", digest[digest[-1] & 15:][:4])[0] & 0x7FFFFFFF
        return f"{number % 1_000_000:06}"


def fill(step, answers):
    """Answers each callback of a step that has a prompt, and returns the step."""
    asked = [callback for callback in step["callbacks"] if callback.get("input")]
    if not asked:
        raise LookupError(f"the journey waits for something else than an answer: {step['callbacks']}")
    for callback in asked:
        prompt = next((output["value"] for output in callback["output"] if output["name"] == "prompt"), "")
        if prompt in answers:
            callback["input"][0]["value"] = answers[prompt]
        elif prompt:
            raise LookupError(f"no answer for '{prompt}'")
    return step
