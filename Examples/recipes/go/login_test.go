package login

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

const password = "gangway lantern 42"

var am *AM

// One server for all tests of the package.
func TestMain(m *testing.M) {
	var err error
	if am, err = StartAM("../am.yaml"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	am.Stop()
	os.Exit(code)
}

func mira() map[string]string { return map[string]string{"User Name": "mira", "Password": password} }

func statuses(entries []object) string {
	text := ""
	for _, entry := range entries {
		text += fmt.Sprint(entry["status"], " ")
	}
	return strings.TrimSpace(text)
}

func TestLoginWithPasswordAndCode(t *testing.T) {
	am := am.For(t)
	secret := am.Enroll("mira", password)
	answers := mira()
	answers["Enter verification code"] = am.Code(secret)

	tokens, err := signIn(am.AM, am.LogIn("OATHLogin", answers))

	if err != nil || claims(tokens)["sub"] != "mira" {
		t.Fatalf("no tokens of mira: %v %v", tokens, err)
	}
	entries := am.Requests("resource=accessToken")
	if statuses(entries) != "200" {
		t.Fatalf("one request for tokens was expected: %v", entries)
	}
	// The log has the names of all parameters, and no secrets.
	sent := entries[0]["parameters"].(object)
	if _, ok := sent["code_verifier"]; !ok || sent["grant_type"] != "authorization_code" {
		t.Fatalf("not a request with PKCE: %v", sent)
	}
}

func TestWrongPasswordIsRefused(t *testing.T) {
	am := am.For(t)
	answers := mira()
	answers["Password"] = "a guess"
	_, err := am.TryStep(am.Fill(am.Start("Login"), answers), "")
	var refused *Refused
	if !errors.As(err, &refused) || refused.Status != 401 {
		t.Fatalf("a wrong password got %v", err)
	}
}

func TestAppTriesAgainWhenTheServerIsNotAvailable(t *testing.T) {
	am := am.For(t)
	am.Admin("POST", "faults", object{"kind": "status", "status": 503, "route": "accessToken", "times": 1})
	if _, err := signIn(am.AM, am.LogIn("Login", mira())); err != nil {
		t.Fatal(err)
	}
	if found := statuses(am.Requests("resource=accessToken")); found != "503 200" {
		t.Fatalf("the app got %s", found)
	}
	if len(am.Requests("fault=status")) != 1 {
		t.Fatal("the fault was not applied once")
	}
}

func TestAppRefusesAnIDTokenOfAnotherLogin(t *testing.T) {
	am := am.For(t)
	am.Admin("POST", "faults", object{"kind": "wrong-nonce", "times": 1})
	if _, err := signIn(am.AM, am.LogIn("Login", mira())); err == nil || !strings.Contains(err.Error(), "nonce") {
		t.Fatalf("the app accepted it: %v", err)
	}
}

func TestLinkInAnEmailContinuesTheLogin(t *testing.T) {
	am := am.For(t)
	if len(am.Emails("mira")) != 0 {
		t.Fatal("the reset has left an email of an earlier test")
	}
	am.Step(am.Fill(am.Start("EmailLogin"), mira()), "")
	emails := am.Emails("mira")
	if len(emails) != 1 {
		t.Fatalf("one email was expected: %v", emails)
	}
	session, _ := am.Resume(emails[0]["link"].(string))["tokenId"].(string)
	if _, err := signIn(am.AM, session); err != nil {
		t.Fatal(err)
	}
}

func TestSessionEndsAfterItsTime(t *testing.T) {
	am := am.For(t)
	session := am.LogIn("Login", mira())
	am.Admin("POST", "clock/advance", object{"seconds": 7201}) // the idle time of a session is two hours
	headers := map[string]string{"iPlanetDirectoryPro": session}
	_, _, err := am.Send("POST", "/json/realms/root/sessions?_action=getSessionInfo", object{}, headers)
	var refused *Refused
	if !errors.As(err, &refused) || refused.Status != 401 {
		t.Fatalf("the session is still valid: %v", err)
	}
}
