import pytest

from app import claims
from signet_am import Refused, fill

PASSWORD = "gangway lantern 42"
MIRA = {"User Name": "mira", "Password": PASSWORD}


def test_login_with_password_and_code(am, app):
    secret = am.enroll("mira", PASSWORD)
    session = am.log_in("OATHLogin", {**MIRA, "Enter verification code": am.code(secret)})

    tokens = app.sign_in(session)

    assert claims(tokens["id_token"])["sub"] == "mira"
    assert [entry["status"] for entry in am.requests(resource="accessToken")] == [200]
    # The log has the names of all parameters, and no secrets.
    sent = am.requests(resource="accessToken")[0]["parameters"]
    assert sent["grant_type"] == "authorization_code" and "code_verifier" in sent


def test_wrong_password_is_refused(am):
    with pytest.raises(Refused) as error:
        am.log_in("Login", {**MIRA, "Password": "a guess"})
    assert error.value.status == 401


def test_app_tries_again_when_the_server_is_not_available(am, app):
    am.admin("POST", "faults", {"kind": "status", "status": 503, "route": "accessToken", "times": 1})

    app.sign_in(am.log_in("Login", MIRA))

    assert [entry["status"] for entry in am.requests(resource="accessToken")] == [503, 200]
    assert len(am.requests(fault="status")) == 1


def test_app_refuses_an_id_token_of_another_login(am, app):
    am.admin("POST", "faults", {"kind": "wrong-nonce", "times": 1})
    with pytest.raises(ValueError, match="nonce"):
        app.sign_in(am.log_in("Login", MIRA))


def test_link_in_an_email_continues_the_login(am, app):
    assert am.emails("mira") == []  # the reset has removed those of earlier tests
    am.step(fill(am.start("EmailLogin"), {"User Name": "mira"}))

    link = am.emails("mira")[0]["link"]

    assert "access_token" in app.sign_in(am.resume(link)["tokenId"])


def test_session_ends_after_its_time(am):
    session = am.log_in("Login", MIRA)
    am.admin("POST", "clock/advance", {"seconds": 7201})  # the idle time of a session is two hours
    with pytest.raises(Refused) as error:
        am.send("POST", "/json/realms/root/sessions?_action=getSessionInfo", {}, {"iPlanetDirectoryPro": session})
    assert error.value.status == 401
