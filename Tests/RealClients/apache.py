"""Scenarios with mod_auth_openidc, which protects a page of an Apache web server."""

import contextlib
import os
import shutil
import socket
import subprocess
import time

import requests

from signet import FAULTS_OF_ID_TOKENS, Server, parameters

CONFIGURATION = """
ServerRoot "%(folder)s"
ServerName 127.0.0.1
Listen 127.0.0.1:%(port)d
PidFile "%(folder)s/httpd.pid"
ErrorLog "%(folder)s/error.log"
LogLevel auth_openidc:info
DocumentRoot "%(folder)s/pages"
%(modules)s
%(user)s
OIDCProviderMetadataURL %(metadata)s
OIDCClientID web
OIDCClientSecret "a secret for tests"
OIDCRedirectURI http://127.0.0.1:%(port)d/protected/callback
OIDCCryptoPassphrase "a passphrase for tests"
OIDCScope "openid profile email"
OIDCPKCEMethod S256
OIDCRemoteUserClaim sub
OIDCInfoHook access_token id_token userinfo session
%(introspection)s
<Location /protected>
    AuthType openid-connect
    Require valid-user
    Header always set X-User "expr=%%{REMOTE_USER}"
    Header always set X-Email "expr=%%{reqenv:OIDC_CLAIM_email}"
</Location>
"""
# The module introspects tokens only over https.
INTROSPECTION = """
OIDCCABundlePath %(authority)s
OIDCOAuthSSLValidateServer On
OIDCOAuthIntrospectionEndpoint %(endpoint)s
OIDCOAuthClientID web
OIDCOAuthClientSecret "a secret for tests"
OIDCOAuthTokenIntrospectionInterval -1
OIDCOAuthRemoteUserClaim sub
<Location /api>
    AuthType oauth20
    Require valid-user
    Header always set X-User "expr=%%{REMOTE_USER}"
</Location>
"""
MODULES = ["mpm_event", "authn_core", "authz_core", "authz_user", "alias", "headers", "dir", "auth_openidc"]
FOLDER_OF_MODULES = "/usr/lib/apache2/modules"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextlib.contextmanager
def apache(signet, tls=False):
    """Runs a server and a web server that is its client `web`; gives the server, a browser, and the address of the web server."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    with Server(signet, redirect=f"{address}/protected/callback", signed_out=f"{address}/bye.html", tls=tls) as server:
        if tls:
            os.environ["REQUESTS_CA_BUNDLE"] = server.authority
        folder = server.folder.name + "/apache"
        for name in ("", "/pages", "/pages/protected", "/pages/api"):
            os.mkdir(folder + name)
        for name in ("bye.html", "protected/index.html", "api/index.html"):
            with open(f"{folder}/pages/{name}", "w", encoding="utf-8") as file:
                file.write(f"<!doctype html><h1>{name}</h1>\n")
        endpoint = server.metadata()["introspection_endpoint"]
        values = {
            "folder": folder,
            "port": port,
            "metadata": server.metadata_url,
            "introspection": INTROSPECTION % {"authority": server.authority, "endpoint": endpoint} if tls else "",
            "modules": "\n".join(f"LoadModule {name}_module {FOLDER_OF_MODULES}/mod_{name}.so" for name in MODULES),
            # A process of root changes to this user, which has to read the pages.
            "user": "User www-data\nGroup www-data" if os.geteuid() == 0 else "",
        }
        with open(f"{folder}/httpd.conf", "w", encoding="utf-8") as file:
            file.write(CONFIGURATION % values)
        if os.geteuid() == 0:
            os.chmod(server.folder.name, 0o711)
            shutil.chown(folder, "www-data", "www-data")
            if tls:
                os.chmod(os.path.dirname(server.authority), 0o711)
                os.chmod(server.authority, 0o644)
        process = subprocess.Popen(["apache2", "-X", "-f", f"{folder}/httpd.conf"])
        try:
            wait_for(port, process)
            browser = requests.Session()
            server.log_in(browser)
            yield server, browser, address
        except BaseException:
            with contextlib.suppress(FileNotFoundError), open(f"{folder}/error.log", encoding="utf-8", errors="replace") as log:
                print("".join(log.readlines()[-20:]))
            raise
        finally:
            os.environ.pop("REQUESTS_CA_BUNDLE", None)
            process.terminate()
            process.wait(20)


def wait_for(port, process):
    for _ in range(200):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        assert process.poll() is None, "apache2 has ended"
        time.sleep(0.05)
    raise AssertionError("apache2 does not listen")


def log_in(server, browser, address):
    """Opens the protected page, and returns the answer at the end of the redirects between the two servers."""
    return browser.get(f"{address}/protected/", timeout=20)


def info(browser, address):
    reply = browser.get(f"{address}/protected/callback?info=json", timeout=10)
    assert reply.status_code == 200, reply.status_code
    return reply.json()


def code(signet):
    """mod_auth_openidc logs in with code and PKCE, and knows the user's claims."""
    with apache(signet) as (server, browser, address):
        first = requests.get(f"{address}/protected/", allow_redirects=False, timeout=10)
        asked = parameters(first.headers["Location"])
        assert first.status_code == 302 and asked["code_challenge_method"] == "S256" and asked["nonce"], asked
        page = log_in(server, browser, address)
        assert page.status_code == 200 and page.headers["X-Email"] == "demo@example.test", (page.status_code, page.headers)
        told = info(browser, address)
        assert told["id_token"]["iss"] == server.metadata()["issuer"] and told["userinfo"]["sub"] == page.headers["X-User"], told


def refresh(signet):
    """mod_auth_openidc renews the access token."""
    with apache(signet) as (server, browser, address):
        log_in(server, browser, address)
        before = info(browser, address)["access_token"]
        query = {"refresh": f"{address}/protected/", "access_token": before}
        page = browser.get(f"{address}/protected/callback", params=query, timeout=10)
        after = info(browser, address)["access_token"]
        assert page.status_code == 200 and "error_code" not in page.url and after != before, page.url


def bearer(signet):
    """mod_auth_openidc admits a bearer token that the server calls active, and refuses it after its revocation."""
    with apache(signet, tls=True) as (server, browser, address):
        log_in(server, browser, address)
        header = {"Authorization": f"Bearer {info(browser, address)['access_token']}"}
        page = requests.get(f"{address}/api/", headers=header, timeout=10)
        assert page.status_code == 200 and page.headers["X-User"], page.status_code
        assert requests.get(f"{address}/api/", headers={"Authorization": "Bearer made-up"}, timeout=10).status_code == 401
        body = {"token": header["Authorization"].partition(" ")[2]}
        reply = requests.post(server.metadata()["revocation_endpoint"], data=body, auth=("web", "a secret for tests"), timeout=10)
        assert reply.status_code == 200, reply.text
        assert requests.get(f"{address}/api/", headers=header, timeout=10).status_code == 401


def logout(signet):
    """A logout at mod_auth_openidc ends the session of the server too, and leads back to the web server."""
    with apache(signet) as (server, browser, address):
        log_in(server, browser, address)
        query = {"logout": f"{address}/bye.html"}
        left = browser.get(f"{address}/protected/callback", params=query, timeout=10)
        assert left.status_code == 200 and left.url.partition("?")[0] == f"{address}/bye.html", left.url
        assert server.admin("GET", "sessions?user=demo")["sessions"] == [], "the session of the server has not ended"
        again = browser.get(f"{address}/protected/", timeout=10)
        assert "/XUI/" in again.url, again.url


def refuses(kind):
    def scenario(signet):
        with apache(signet) as (server, browser, address):
            server.fault(kind)
            page = log_in(server, browser, address)
            # The module explains the error on a page of its own, whose status depends on the error.
            assert "protected/index.html" not in page.text and not page.headers.get("X-User"), page.text
            assert info_is_refused(browser, address), "there is a session after the fault"
            again = log_in(server, browser, address)
            assert again.status_code == 200 and again.headers["X-User"], again.status_code

    scenario.__doc__ = f"mod_auth_openidc refuses the answer of the fault {kind}, and accepts the next one."
    return scenario


def info_is_refused(browser, address):
    return browser.get(f"{address}/protected/callback?info=json", timeout=10).status_code != 200


FAULTS = [*FAULTS_OF_ID_TOKENS, "wrong-state", "expired-code"]

SCENARIOS = {
    "apache-code": code,
    "apache-refresh": refresh,
    "apache-bearer": bearer,
    "apache-logout": logout,
    **{f"apache-{kind}": refuses(kind) for kind in FAULTS},
}
