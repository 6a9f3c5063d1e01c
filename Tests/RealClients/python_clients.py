"""Scenarios with Authlib, joserfc and oauthlib, as the documentation of each describes its use."""

import time

import requests

from signet import FAULTS_OF_ID_TOKENS, parameters

# A scenario is a function; the faults are scenarios with a parameter.

# Authlib, with the integration for Flask.


def flask_app(server, client="web", secret="a secret for tests"):
    from authlib.integrations.flask_client import OAuth
    from flask import Flask

    app = Flask(__name__)
    app.secret_key = "a key for tests"
    oauth = OAuth(app)
    oauth.register(
        "signet",
        client_id=client,
        client_secret=secret,
        server_metadata_url=server.metadata_url,
        client_kwargs={"scope": "openid profile email", "code_challenge_method": "S256"},
    )
    outcome = {}

    @app.route("/login")
    def login():
        return oauth.signet.authorize_redirect(server.redirect)

    @app.route("/callback")
    def callback():
        # Authlib checks `aud` only against the values that an app names.
        issuer = oauth.signet.load_server_metadata()["issuer"]
        expected = {"iss": {"value": issuer}, "aud": {"essential": True, "value": client}}
        outcome["token"] = oauth.signet.authorize_access_token(claims_options=expected)
        return "done"

    app.testing = True
    return app, oauth, outcome


def authlib_log_in(server, browser, client="web", secret="a secret for tests"):
    app, oauth, outcome = flask_app(server, client, secret)
    page = app.test_client()
    address = page.get("/login").headers["Location"]
    back = server.visit(browser, address, server.redirect)
    page.get("/callback", query_string=back.partition("?")[2])
    return app, oauth, outcome["token"]


def browser_with_session(server):
    browser = requests.Session()
    server.log_in(browser)
    return browser


def authlib_code(server):
    """Authlib logs in with code and PKCE, and reads userinfo."""
    app, oauth, token = authlib_log_in(server, browser_with_session(server))
    assert token["userinfo"]["sub"] and token["userinfo"]["iss"] == server.metadata()["issuer"], token
    with app.app_context():
        info = oauth.signet.userinfo(token=token)
    assert info["sub"] == token["userinfo"]["sub"] and info["email"] == "demo@example.test", info


def authlib_public_client(server):
    """Authlib logs in as a client without a secret."""
    from authlib.integrations.requests_client import OAuth2Session

    browser = browser_with_session(server)
    session = OAuth2Session(
        "app", scope="openid", redirect_uri=server.redirect, code_challenge_method="S256", token_endpoint_auth_method="none"
    )
    verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    address, state = session.create_authorization_url(server.metadata()["authorization_endpoint"], code_verifier=verifier)
    back = server.visit(browser, address, server.redirect)
    token = session.fetch_token(
        server.metadata()["token_endpoint"], authorization_response=back, state=state, code_verifier=verifier
    )
    assert token["access_token"] and token["id_token"], token


def authlib_refresh_introspect_revoke(server):
    """Authlib refreshes tokens, and the server introspects and revokes them."""
    from authlib.integrations.requests_client import OAuth2Session

    _, _, token = authlib_log_in(server, browser_with_session(server))
    ends = server.metadata()
    session = OAuth2Session("web", "a secret for tests", token=dict(token))
    renewed = session.refresh_token(ends["token_endpoint"])
    assert renewed["access_token"] != token["access_token"], "the access token is the same"
    info = session.introspect_token(ends["introspection_endpoint"], token=renewed["access_token"]).json()
    assert info["active"] is True and info["client_id"] == "web", info
    assert session.revoke_token(ends["revocation_endpoint"], token=renewed["access_token"]).status_code == 200
    info = session.introspect_token(ends["introspection_endpoint"], token=renewed["access_token"]).json()
    assert info["active"] is False, info
    header = {"Authorization": f"Bearer {renewed['access_token']}"}
    assert requests.get(ends["userinfo_endpoint"], headers=header, timeout=10).status_code == 401


def authlib_logout(server):
    """Authlib's id_token ends the session at `endSession`, which leads back to the client."""
    browser = browser_with_session(server)
    _, _, token = authlib_log_in(server, browser)
    request = requests.Request(
        "GET",
        server.metadata()["end_session_endpoint"],
        params={"id_token_hint": token["id_token"], "post_logout_redirect_uri": server.signed_out, "state": "s-1"},
    ).prepare()
    back = server.visit(browser, request.url, server.signed_out)
    assert parameters(back) == {"state": "s-1"}, back
    app, _, _ = flask_app(server)
    address = app.test_client().get("/login").headers["Location"] + "&prompt=none"
    refused = parameters(server.visit(browser, address, server.redirect))
    assert refused["error"] in ("login_required", "interaction_required"), refused


def authlib_refuses(kind):
    def scenario(server):
        browser = browser_with_session(server)
        authlib_log_in(server, browser)
        server.fault(kind)
        refused(lambda: authlib_log_in(server, browser), kind, errors_of_tokens())
        authlib_log_in(server, browser)

    scenario.__doc__ = f"Authlib refuses the id_token of the fault {kind}, and accepts the next one."
    return scenario


# joserfc.


def tokens(server, nonce):
    """Gets tokens with the requests of a plain client, for scenarios that check the tokens themselves."""
    browser = browser_with_session(server)
    verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    query = {
        "response_type": "code",
        "client_id": "app",
        "redirect_uri": server.redirect,
        "scope": "openid profile",
        "state": "s",
        "nonce": nonce,
        "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
        "code_challenge_method": "S256",
    }
    ends = server.metadata()
    address = requests.Request("GET", ends["authorization_endpoint"], params=query).prepare().url
    code = parameters(server.visit(browser, address, server.redirect))["code"]
    body = {
        "grant_type": "authorization_code",
        "client_id": "app",
        "code": code,
        "redirect_uri": server.redirect,
        "code_verifier": verifier,
    }
    return requests.post(ends["token_endpoint"], data=body, timeout=10).json()


def joserfc_claims(server, id_token, nonce):
    from joserfc import jwt
    from joserfc.jwk import KeySet

    ends = server.metadata()
    keys = KeySet.import_key_set(requests.get(ends["jwks_uri"], timeout=10).json())
    token = jwt.decode(id_token, keys, algorithms=ends["id_token_signing_alg_values_supported"])
    rules = jwt.JWTClaimsRegistry(
        iss={"essential": True, "value": ends["issuer"]},
        aud={"essential": True, "value": "app"},
        exp={"essential": True},
        nonce={"essential": True, "value": nonce},
    )
    rules.validate(token.claims)
    return token.claims


def joserfc_verifies(server):
    """joserfc verifies an id_token with the key set and the claims of the metadata."""
    claims = joserfc_claims(server, tokens(server, "n-1")["id_token"], "n-1")
    assert claims["sub"] and claims["exp"] > time.time(), claims


def joserfc_refuses(kind):
    def scenario(server):
        server.fault(kind)
        token = tokens(server, "n-1")["id_token"]
        refused(lambda: joserfc_claims(server, token, "n-1"), kind, errors_of_tokens())

    scenario.__doc__ = f"joserfc refuses the id_token of the fault {kind}."
    return scenario


# oauthlib, with requests-oauthlib.


def oauthlib_session(server, **options):
    from requests_oauthlib import OAuth2Session

    return OAuth2Session("web", redirect_uri=server.redirect, scope=["openid", "profile"], pkce="S256", **options)


def oauthlib_log_in(server, browser, session):
    ends = server.metadata()
    address, _ = session.authorization_url(ends["authorization_endpoint"])
    back = server.visit(browser, address, server.redirect)
    return session.fetch_token(
        ends["token_endpoint"], authorization_response=back, client_secret="a secret for tests", timeout=10
    )


def oauthlib_code(server):
    """oauthlib logs in with code and PKCE, reads userinfo, and renews an access token that has expired."""
    ends = server.metadata()
    saved = []
    session = oauthlib_session(
        server,
        auto_refresh_url=ends["token_endpoint"],
        token_updater=saved.append,
        auto_refresh_kwargs={"client_id": "web", "client_secret": "a secret for tests"},
    )
    token = oauthlib_log_in(server, browser_with_session(server), session)
    assert session.get(ends["userinfo_endpoint"], timeout=10).json()["sub"], "no userinfo"
    session.token = {**token, "expires_in": -1, "expires_at": 1}
    assert session.get(ends["userinfo_endpoint"], timeout=10).json()["sub"], "no userinfo after the renewal"
    assert len(saved) == 1 and saved[0]["access_token"] != token["access_token"], saved


def oauthlib_refuses_state(server):
    """oauthlib refuses the state of the fault wrong-state."""
    from oauthlib.oauth2 import MismatchingStateError

    server.fault("wrong-state")
    refused(
        lambda: oauthlib_log_in(server, browser_with_session(server), oauthlib_session(server)),
        "wrong-state",
        MismatchingStateError,
    )


def oauthlib_expired_code(server):
    """oauthlib reports `invalid_grant` for the code of the fault expired-code."""
    from oauthlib.oauth2 import InvalidGrantError

    server.fault("expired-code")
    refused(
        lambda: oauthlib_log_in(server, browser_with_session(server), oauthlib_session(server)), "expired-code", InvalidGrantError
    )


def oauthlib_lost_refresh(server):
    """A client that loses the answer to a refresh presents the token again, and has to log in again."""
    from oauthlib.oauth2 import InvalidGrantError

    session = oauthlib_session(server)
    browser = browser_with_session(server)
    oauthlib_log_in(server, browser, session)
    address = server.metadata()["token_endpoint"]
    renew = lambda: session.refresh_token(address, client_id="web", client_secret="a secret for tests", timeout=10)  # noqa: E731
    server.fault("lost-refresh")
    refused(renew, "lost-refresh", requests.exceptions.ConnectionError)
    refused(renew, "the second use of the token", InvalidGrantError)
    oauthlib_log_in(server, browser, oauthlib_session(server))


def oauthlib_slow_body(server):
    """A client with a limit on the whole answer sees that the fault slow-body exceeds it, and works afterwards."""
    browser = browser_with_session(server)
    ends = server.metadata()
    server.fault("slow-body", milliseconds=1500, route="userInfo")
    session = oauthlib_session(server)
    oauthlib_log_in(server, browser, session)
    start = time.monotonic()
    assert session.get(ends["userinfo_endpoint"], timeout=10).json()["sub"]
    assert time.monotonic() - start > 1, "the body was not slow"
    start = time.monotonic()
    assert session.get(ends["userinfo_endpoint"], timeout=10).json()["sub"]
    assert time.monotonic() - start < 1, "the fault applied twice"


# What testers change while the server runs.


def admin_session(server):
    """A session of the administration API logs a client in without a journey."""
    opened = server.admin("POST", "sessions", {"user": "demo"})
    browser = requests.Session()
    cookie = opened["cookie"]
    browser.cookies.set(cookie["name"], cookie["value"], domain="127.0.0.1", path=cookie["path"])
    _, _, token = authlib_log_in(server, browser)
    assert token["userinfo"]["sub"], token


def admin_client(server):
    """A client that a tester adds logs in at once, with the new redirect URI only, and is unknown after its removal."""
    browser = browser_with_session(server)
    server.admin("PUT", "clients/late", {"secret": "another secret", "redirectURIs": [server.redirect], "requirePKCE": False})
    _, _, token = authlib_log_in(server, browser, "late", "another secret")
    assert token["userinfo"]["aud"] in ("late", ["late"]), token
    server.admin("PUT", "clients/late", {"secret": "another secret", "redirectURIs": ["http://127.0.0.1/elsewhere"]})
    refused(
        lambda: authlib_log_in(server, browser, "late", "another secret"), "a redirect URI that is not registered", AssertionError
    )
    server.admin("DELETE", "clients/late")
    assert [client["id"] for client in server.admin("GET", "clients")["clients"] if client["id"] == "late"] == []


def admin_journey(server):
    """A journey that a tester changes applies to the next login."""
    browser = browser_with_session(server)
    nodes = {
        "page": {
            "type": "PageNode",
            "nodes": [{"type": "UsernameCollectorNode"}, {"type": "PasswordCollectorNode"}],
            "outcomes": {"outcome": "password"},
        },
        "password": {"type": "DataStoreDecisionNode", "outcomes": {"true": "failure", "false": "failure"}},
    }
    server.admin("PUT", "journeys/Login", {"nodes": nodes})
    refused(lambda: server.log_in(requests.Session()), "a journey that always fails", (AssertionError, KeyError))
    nodes["password"]["outcomes"]["true"] = "success"
    server.admin("PUT", "journeys/Login", {"nodes": nodes})
    server.log_in(requests.Session())
    authlib_log_in(server, browser)


def reload_on_signal(server):
    """SIGHUP takes over the changed file: a client that was added to it logs in."""
    browser = browser_with_session(server)
    added = f"\n  - {{id: reloaded, redirectURIs: ['{server.redirect}']}}\njourneys:"
    server.write(server.read().replace("\njourneys:", added, 1))
    server.reload()
    for _ in range(100):
        if any(client["id"] == "reloaded" for client in server.admin("GET", "clients")["clients"]):
            break
        time.sleep(0.05)
    else:
        raise AssertionError("the server did not take over the file")
    authlib_log_in(server, browser, "reloaded", None)


def errors_of_tokens():
    """Returns the errors with which the libraries refuse a token; an unknown key is a ValueError."""
    from authlib.common.errors import AuthlibBaseError
    from joserfc.errors import JoseError

    return (AuthlibBaseError, JoseError, ValueError)


def refused(action, what, errors):
    """Requires that an action fails with one of these errors."""
    try:
        action()
    except errors as error:
        print(f"{what}: {type(error).__name__}: {str(error)[:120]}")
        return
    raise AssertionError(f"{what} was accepted")


SCENARIOS = {
    "authlib-code": authlib_code,
    "authlib-public-client": authlib_public_client,
    "authlib-tokens": authlib_refresh_introspect_revoke,
    "authlib-logout": authlib_logout,
    **{f"authlib-{kind}": authlib_refuses(kind) for kind in FAULTS_OF_ID_TOKENS},
    "joserfc-verifies": joserfc_verifies,
    **{f"joserfc-{kind}": joserfc_refuses(kind) for kind in FAULTS_OF_ID_TOKENS},
    "oauthlib-code": oauthlib_code,
    "oauthlib-wrong-state": oauthlib_refuses_state,
    "oauthlib-expired-code": oauthlib_expired_code,
    "oauthlib-lost-refresh": oauthlib_lost_refresh,
    "oauthlib-slow-body": oauthlib_slow_body,
    "admin-session": admin_session,
    "admin-client": admin_client,
    "admin-journey": admin_journey,
    "reload": reload_on_signal,
}
