// The app under test: it gets tokens for a session, as an OpenID client does. Your tests call your own app instead.

package login

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"time"
)

const redirectURI = "http://127.0.0.1/callback"

// signIn exchanges a session for tokens by authorization code and PKCE; it waits and tries again when the server is not available.
func signIn(am *AM, session string) (object, error) {
	verifier, state, nonce := random(), random(), random()
	challenge := sha256.Sum256([]byte(verifier))
	query := url.Values{
		"response_type": {"code"}, "client_id": {"app"}, "redirect_uri": {redirectURI}, "scope": {"openid"},
		"state": {state}, "nonce": {nonce}, "code_challenge_method": {"S256"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(challenge[:])},
	}
	_, location, err := am.Send("GET", "/oauth2/authorize?"+query.Encode(), nil, map[string]string{"iPlanetDirectoryPro": session})
	if err != nil {
		return nil, err
	}
	answer, err := url.Parse(location)
	if err != nil {
		return nil, err
	}
	if answer.Query().Get("state") != state {
		return nil, errors.New("the state is not that of the request")
	}
	form := url.Values{
		"grant_type": {"authorization_code"}, "client_id": {"app"}, "redirect_uri": {redirectURI},
		"code": {answer.Query().Get("code")}, "code_verifier": {verifier},
	}
	for attempt := 1; ; attempt++ {
		tokens, _, err := am.Send("POST", "/oauth2/access_token", form, nil)
		var refused *Refused
		switch {
		case err == nil && claims(tokens)["nonce"] != nonce:
			return nil, errors.New("the nonce is not that of the request")
		case err == nil || !errors.As(err, &refused) || refused.Status != 503 || attempt == 3:
			return tokens, err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// claims returns the claims of an id_token. An app must also verify its signature; a library for OpenID does.
func claims(tokens object) object {
	token, _ := tokens["id_token"].(string)
	parts := strings.Split(token, ".")
	var claims object
	if len(parts) == 3 {
		payload, _ := base64.RawURLEncoding.DecodeString(parts[1])
		json.Unmarshal(payload, &claims)
	}
	return claims
}

func random() string {
	bytes := make([]byte, 32)
	if _, err := rand.Read(bytes); err != nil {
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(bytes)
}
