#!/usr/bin/env bash
# Tests in bash: each is a function, runs after a reset, and fails at its first command that fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# shellcheck source=am.bash
source am.bash

password="gangway lantern 42"

# fails COMMAND...: succeeds when the command fails. `set -e` does not see the status of `! command`.
fails() { if "$@"; then return 1; fi; }

test_login_with_password_and_code() {
    local secret session answer
    secret=$(enroll mira "$password")
    session=$(log_in OATHLogin "User Name" mira Password "$password" "Enter verification code" "$(code "$secret")")
    answer=$(tokens "$session")
    [[ $(claims <<<"$answer" | jq -r .sub) == mira ]]
    [[ $(requests resource=accessToken '[.[].status]') == "[200]" ]]
    # The log has the names of all parameters, and no secrets.
    [[ $(requests resource=accessToken '.[0].parameters | .grant_type == "authorization_code" and has("code_verifier")') == true ]]
}

test_wrong_password_is_refused() {
    fails log_in Login "User Name" mira Password "a guess" 2>&1 | grep '"code":401'
}

test_fault_is_told_to_the_app() {
    admin POST faults '{"kind": "status", "status": 503, "route": "accessToken", "times": 1}'
    local session
    session=$(log_in Login "User Name" mira Password "$password")
    fails tokens "$session"
    tokens "$session"
    [[ $(requests resource=accessToken '[.[].status]') == "[503,200]" ]]
    [[ $(requests fault=status length) == 1 ]]
}

test_wrong_nonce() {
    admin POST faults '{"kind": "wrong-nonce", "times": 1}'
    local session
    session=$(log_in Login "User Name" mira Password "$password")
    [[ $(tokens "$session" my-nonce | claims | jq -r .nonce) != my-nonce ]]
    [[ $(tokens "$session" my-nonce | claims | jq -r .nonce) == my-nonce ]]
}

test_link_in_an_email_continues_the_login() {
    fails email_link mira # the reset has removed those of earlier tests
    step "$(fill "$(start_journey EmailLogin)" "User Name" mira)"
    local session
    session=$(resume "$(email_link mira)")
    tokens "$session" | jq -e .access_token
}

test_session_ends_after_its_time() {
    local session info=(-s -o /dev/null -w '%{http_code}' -X POST)
    session=$(log_in Login "User Name" mira Password "$password")
    info+=(-H "iPlanetDirectoryPro: $session" "$am_url/json/realms/root/sessions?_action=getSessionInfo")
    [[ $(curl "${info[@]}") == 200 ]]
    admin POST clock/advance '{"seconds": 7201}' # the idle time of a session is two hours
    [[ $(curl "${info[@]}") == 401 ]]
}

start_am ../am.yaml
passed=0 failed=0
for name in $(compgen -A function test_); do
    reset_am
    # In a shell of its own, because bash ignores `set -e` in a function whose status is asked for.
    status=0
    set +e
    output=$(set -eE; trap 'echo "$BASH_COMMAND failed in line $LINENO"' ERR; trap - EXIT; $name 2>&1)
    status=$?
    set -e
    if [[ $status -eq 0 ]]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf '%s failed:\n%s\n' "$name" "$output" >&2
    fi
done
echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
