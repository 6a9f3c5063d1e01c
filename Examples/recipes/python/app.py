"""The app under test: it gets tokens for a session, as an OpenID client does. Your tests call your own app instead."""

import base64
import hashlib
import json
import secrets
import time
import urllib.parse

from signet_am import Refused

REDIRECT_URI = "http://127.0.0.1/callback"


def claims(token):
    """The claims of a JWT. An app must also verify its signature; a library for OpenID does."""
    payload = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))


class App:
    def __init__(self, am):
        self.am = am

    def sign_in(self, session):
        """Exchanges a session for tokens by authorization code and PKCE; waits and tries again when the server is not available."""
        verifier, state, nonce = (secrets.token_urlsafe(32) for _ in range(3))
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        location = self.am.send("GET", "/oauth2/authorize?" + urllib.parse.urlencode({
            "response_type": "code", "client_id": "app", "redirect_uri": REDIRECT_URI, "scope": "openid",
            "state": state, "nonce": nonce, "code_challenge": challenge, "code_challenge_method": "S256",
        }), headers={"iPlanetDirectoryPro": session})
        answer = urllib.parse.parse_qs(urllib.parse.urlsplit(location).query)
        if answer.get("state") != [state]:
            raise ValueError("the state is not that of the request")
        form = urllib.parse.urlencode({
            "grant_type": "authorization_code", "client_id": "app", "redirect_uri": REDIRECT_URI,
            "code": answer["code"][0], "code_verifier": verifier,
        })
        tokens = self._post("/oauth2/access_token", form)
        if claims(tokens["id_token"])["nonce"] != nonce:
            raise ValueError("the nonce is not that of the request")
        return tokens

    def _post(self, path, form, attempts=3):
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        for attempt in range(1, attempts + 1):
            try:
                return self.am.send("POST", path, form, headers)
            except Refused as error:
                if error.status != 503 or attempt == attempts:
                    raise
                time.sleep(0.1)
