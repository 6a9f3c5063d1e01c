// An AM for tests: starts `signet serve`, and drives its logins, clock, faults, emails and request log.
// Copy this file beside your tests. It needs Go 1.19 and no module.

package login

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// An object is a JSON object.
type object = map[string]any

// AM is a running `signet serve`.
type AM struct {
	URL     string
	token   string
	folder  string
	command *exec.Cmd
	input   io.Closer
	ended   chan error
}

// StartAM starts a server with a configuration file, and waits until it is ready.
func StartAM(config string) (*AM, error) {
	folder, err := os.MkdirTemp("", "am-")
	if err != nil {
		return nil, err
	}
	ready := filepath.Join(folder, "ready.json")
	// The server also ends when its standard input does, so it never outlives the tests.
	command := exec.Command("signet", "serve", "--config", config, "--state", "memory", "--port", "0", "--admin",
		"--ready-file", ready, "--exit-on-stdin-eof")
	log, err := os.Create(filepath.Join(folder, "am.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	command.Stdout, command.Stderr = log, log
	input, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		os.RemoveAll(folder)
		return nil, err
	}
	am := &AM{folder: folder, command: command, input: input, ended: make(chan error, 1)}
	go func() { am.ended <- command.Wait() }()
	if err := am.wait(ready, 30*time.Second); err != nil {
		err = fmt.Errorf("signet serve did not start: %w\n%s", err, am.Log())
		am.Stop()
		return nil, err
	}
	return am, nil
}

func (am *AM) wait(ready string, limit time.Duration) error {
	for end := time.Now().Add(limit); time.Now().Before(end); {
		select {
		case err := <-am.ended:
			am.ended <- err
			return fmt.Errorf("it ended: %v", err)
		case <-time.After(20 * time.Millisecond):
		}
		text, err := os.ReadFile(ready)
		if err != nil {
			continue
		}
		var facts struct {
			URL   string
			Admin struct{ TokenFile string }
		}
		if err := json.Unmarshal(text, &facts); err != nil {
			return err
		}
		token, err := os.ReadFile(facts.Admin.TokenFile)
		am.URL, am.token = facts.URL, strings.TrimSpace(string(token))
		return err
	}
	return errors.New("it was not ready in time")
}

// Log returns what the server has printed.
func (am *AM) Log() string {
	text, _ := os.ReadFile(filepath.Join(am.folder, "am.log"))
	return string(text)
}

// Stop ends the server and removes its files.
func (am *AM) Stop() {
	am.input.Close()
	select {
	case <-am.ended:
	case <-time.After(10 * time.Second):
		am.command.Process.Kill()
		<-am.ended
	}
	os.RemoveAll(am.folder)
}

// Refused is a response with an error status.
type Refused struct {
	Status int
	Body   string
}

func (refused *Refused) Error() string { return fmt.Sprintf("%d: %s", refused.Status, refused.Body) }

var client = &http.Client{
	Timeout: 30 * time.Second,
	// Redirects are answers: the code of an authorization is in one.
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Send sends a request, with an object as JSON or url.Values as a form, and returns its JSON, or `Location` of a redirect.
func (am *AM) Send(method, path string, body any, headers map[string]string) (object, string, error) {
	var content io.Reader
	kind := ""
	switch body := body.(type) {
	case url.Values:
		content, kind = strings.NewReader(body.Encode()), "application/x-www-form-urlencoded"
	case object:
		text, err := json.Marshal(body)
		if err != nil {
			return nil, "", err
		}
		content, kind = bytes.NewReader(text), "application/json"
	}
	request, err := http.NewRequest(method, am.URL+path, content)
	if err != nil {
		return nil, "", err
	}
	if kind != "" {
		request.Header.Set("Content-Type", kind)
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return nil, "", err
	case response.StatusCode >= 400:
		return nil, "", &Refused{response.StatusCode, string(text)}
	case response.StatusCode >= 300:
		return nil, response.Header.Get("Location"), nil
	}
	var answer object
	return answer, "", json.Unmarshal(text, &answer)
}

// Test is the server for one test. Its methods end the test at an unexpected error.
type Test struct {
	*AM
	t testing.TB
}

// For begins a test: users, sessions, clock and faults as in the configuration, and an empty request log.
func (am *AM) For(t testing.TB) *Test {
	t.Helper()
	test := &Test{am, t}
	test.Admin("POST", "reset", object{})
	test.Admin("DELETE", "request-log", nil)
	return test
}

// Admin sends a request to the administration API, for example Admin("POST", "clock/advance", object{"seconds": 30}).
func (test *Test) Admin(method, path string, body any) object {
	test.t.Helper()
	answer, _, err := test.Send(method, "/admin/"+path, body, map[string]string{"Authorization": "Bearer " + test.token})
	test.must(err)
	return answer
}

// Requests returns the entries of the request log, for example Requests("resource=accessToken&status=200").
func (test *Test) Requests(query string) []object {
	test.t.Helper()
	return objects(test.Admin("GET", "request-log?"+query, nil)["entries"])
}

// Emails returns the emails to a user.
func (test *Test) Emails(user string) []object {
	test.t.Helper()
	return objects(test.Admin("GET", "emails?user="+url.QueryEscape(user), nil)["emails"])
}

// TryStep sends the answer to a step of a journey, or starts one, and returns the next step, or the end with its `tokenId`.
func (test *Test) TryStep(answer object, query string) (object, error) {
	if answer == nil {
		answer = object{}
	}
	headers := map[string]string{"Accept-API-Version": "resource=2.1"}
	next, _, err := test.Send("POST", "/json/realms/root/authenticate?"+query, answer, headers)
	return next, err
}

// Step is TryStep without an error.
func (test *Test) Step(answer object, query string) object {
	test.t.Helper()
	next, err := test.TryStep(answer, query)
	test.must(err)
	return next
}

// Start starts a journey, and returns its first step.
func (test *Test) Start(journey string) object {
	test.t.Helper()
	return test.Step(nil, "authIndexType=service&authIndexValue="+url.QueryEscape(journey))
}

// LogIn runs a journey with the answer to each prompt, and returns the session.
func (test *Test) LogIn(journey string, answers map[string]string) string {
	test.t.Helper()
	step := test.Start(journey)
	for {
		if session, ok := step["tokenId"].(string); ok {
			return session
		}
		step = test.Step(test.Fill(step, answers), "")
	}
}

// Resume continues the journey that an email was sent for, by the link in it, and returns the next step or the end.
func (test *Test) Resume(link string) object {
	test.t.Helper()
	return test.Step(nil, "suspendedId="+url.QueryEscape(test.parameter(link, "suspendedId")))
}

// Fill answers each callback of a step that has a prompt, and returns the step.
func (test *Test) Fill(step object, answers map[string]string) object {
	test.t.Helper()
	asked := 0
	for _, callback := range objects(step["callbacks"]) {
		input := objects(callback["input"])
		if len(input) == 0 {
			continue
		}
		asked++
		for _, output := range objects(callback["output"]) {
			prompt, _ := output["value"].(string)
			if output["name"] != "prompt" || prompt == "" {
				continue
			}
			answer, ok := answers[prompt]
			if !ok {
				test.t.Fatalf("no answer for %q", prompt)
			}
			input[0]["value"] = answer
		}
	}
	if asked == 0 {
		test.t.Fatalf("the journey waits for something else than an answer: %v", step["callbacks"])
	}
	return step
}

// Enroll registers a device for one-time codes with the journey OATHRegistration, and returns its secret in base32.
func (test *Test) Enroll(user, password string) string {
	test.t.Helper()
	shown := test.Step(test.Fill(test.Start("OATHRegistration"), map[string]string{"User Name": user, "Password": password}), "")
	secret := ""
	for _, callback := range objects(shown["callbacks"]) {
		for _, output := range objects(callback["output"]) {
			if text, _ := output["value"].(string); strings.HasPrefix(text, "otpauth:") {
				secret = test.parameter(text, "secret")
			}
		}
	}
	asked := test.Step(shown, "")
	test.Step(test.Fill(asked, map[string]string{"Enter verification code": test.Code(secret)}), "")
	test.Admin("POST", "clock/advance", object{"seconds": 30}) // the server accepts each code once
	return secret
}

// Code returns the one-time code (RFC 6238) of a secret, at the time of the server's clock.
func (test *Test) Code(secret string) string {
	test.t.Helper()
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret)
	test.must(err)
	counter := make([]byte, 8)
	binary.BigEndian.PutUint64(counter, uint64(test.Admin("GET", "clock", nil)["seconds"].(float64))/30)
	mac := hmac.New(sha1.New, key)
	mac.Write(counter)
	digest := mac.Sum(nil)
	number := binary.BigEndian.Uint32(digest[digest[19]&15:]) & 0x7FFFFFFF
	return fmt.Sprintf("%06d", number%1_000_000)
}

func (test *Test) parameter(address, name string) string {
	test.t.Helper()
	parsed, err := url.Parse(address)
	test.must(err)
	return parsed.Query().Get(name)
}

func (test *Test) must(err error) {
	test.t.Helper()
	if err != nil {
		test.t.Fatal(err)
	}
}

func objects(value any) []object {
	var found []object
	list, _ := value.([]any)
	for _, element := range list {
		if member, ok := element.(object); ok {
			found = append(found, member)
		}
	}
	return found
}
