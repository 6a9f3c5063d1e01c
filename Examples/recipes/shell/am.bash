# An AM for tests in bash: starts `signet serve`, and drives its logins, clock, faults, emails and request log.
# Source this file. It needs curl and jq, and oathtool for one-time codes.

# start_am FILE: starts a server with a configuration file, and waits until it is ready. It sets am_url, and stops with the shell.
start_am() {
    am_folder=$(mktemp -d)
    signet serve --config "$1" --state memory --port 0 --admin --ready-file "$am_folder/ready.json" >"$am_folder/am.log" 2>&1 &
    am_process=$!
    trap stop_am EXIT
    local try
    for ((try = 0; try < 300; try++)); do
        [[ ! -e $am_folder/ready.json ]] || break
        kill -0 "$am_process" 2>/dev/null || break
        sleep 0.1
    done
    if [[ ! -e $am_folder/ready.json ]]; then
        echo "signet serve did not start:" >&2
        cat "$am_folder/am.log" >&2
        return 1
    fi
    am_url=$(jq -r .url "$am_folder/ready.json")
    # curl reads the token from a file, because other users can see the arguments of a command.
    local token
    token=$(<"$(jq -r .admin.tokenFile "$am_folder/ready.json")")
    (umask 077 && printf 'header = "Authorization: Bearer %s"\n' "$token" >"$am_folder/admin.curl")
}

stop_am() {
    kill "$am_process" 2>/dev/null && wait "$am_process"
    rm -rf "$am_folder"
}

# admin METHOD PATH [JSON]: a request to the administration API, for example: admin POST clock/advance '{"seconds": 30}'
admin() {
    curl -sS --fail-with-body --config "$am_folder/admin.curl" -X "$1" ${3:+-H 'Content-Type: application/json' --data "$3"} \
        "$am_url/admin/$2"
}

# Begins anew: users, sessions, clock and faults as in the configuration, and an empty request log.
reset_am() { admin POST reset '{}' >/dev/null && admin DELETE request-log >/dev/null; }

# requests QUERY FILTER: applies a filter of jq to the entries of the request log, for example: requests resource=accessToken '.[].status'
requests() { admin GET "request-log?$1" | jq -cr ".entries | $2"; }

# email_link USER: the link in the first email to a user.
email_link() { admin GET "emails?user=$1" | jq -re '.emails[0].link'; }

# start_journey NAME: starts a journey, and prints its first step.
start_journey() { step '{}' "authIndexType=service&authIndexValue=$1"; }

# step ANSWER [QUERY]: sends the answer to a step, and prints the next step, or the end with its tokenId.
step() {
    curl -sS --fail-with-body -H 'Content-Type: application/json' -H 'Accept-API-Version: resource=2.1' --data @- \
        "$am_url/json/realms/root/authenticate?${2:-}" <<<"$1"
}

# fill STEP PROMPT ANSWER...: answers each callback of a step by its prompt, and prints the step.
fill() {
    local filled=$1
    shift
    while [[ $# -ge 2 ]]; do
        filled=$(jq --arg prompt "$1" --arg answer "$2" \
            '(.callbacks[] | select(any(.output[]; .name == "prompt" and .value == $prompt)) | .input[0].value) = $answer' <<<"$filled")
        shift 2
    done
    printf '%s\n' "$filled"
}

# log_in JOURNEY PROMPT ANSWER...: runs a journey, and prints the session's token; or it fails, and prints the error of the server.
log_in() {
    local step journey=$1
    shift
    step=$(start_journey "$journey") || return
    while ! jq -e .tokenId <<<"$step" >/dev/null; do
        if ! jq -e 'any(.callbacks[]; .input)' <<<"$step" >/dev/null || ! step=$(step "$(fill "$step" "$@")"); then
            printf '%s\n' "$step" >&2
            return 1
        fi
    done
    jq -r .tokenId <<<"$step"
}

# resume LINK: continues the journey that an email was sent for, and prints the session's token.
resume() {
    local id=${1##*suspendedId=}
    step '{}' "suspendedId=${id%%&*}" | jq -re .tokenId
}

# code SECRET: the one-time code of a secret in base32, at the time of the server's clock.
code() { oathtool --totp --base32 --now "@$(admin GET clock | jq '.seconds | floor')" "$1"; }

# enroll USER PASSWORD: registers a device for one-time codes with the journey OATHRegistration, and prints its secret.
enroll() {
    local shown secret
    shown=$(step "$(fill "$(start_journey OATHRegistration)" "User Name" "$1" Password "$2")") || return
    secret=$(jq -r '[.callbacks[].output[].value | strings | select(startswith("otpauth:"))][0] | capture("secret=(?<secret>[A-Z2-7]+)").secret' \
        <<<"$shown")
    step "$(fill "$(step "$shown")" "Enter verification code" "$(code "$secret")")" >/dev/null || return
    admin POST clock/advance '{"seconds": 30}' >/dev/null # the server accepts each code once
    echo "$secret"
}

# tokens SESSION [NONCE]: exchanges a session for tokens, and prints the answer. An app does this in your tests.
tokens() {
    local verifier challenge location
    verifier=$(head -c 32 /dev/urandom | base64 | tr '+/' '-_' | tr -d '=\n')
    challenge=$(printf %s "$verifier" | sha256sum | cut -d ' ' -f 1 | sed 's/../\\x&/g')
    challenge=$(printf %b "$challenge" | base64 | tr '+/' '-_' | tr -d '=\n')
    location=$(curl -sS -o /dev/null -w '%{redirect_url}' -G -H "iPlanetDirectoryPro: $1" "$am_url/oauth2/authorize" \
        -d response_type=code -d client_id=app -d scope=openid -d "state=s" -d "nonce=${2:-n}" \
        -d code_challenge_method=S256 -d "code_challenge=$challenge" --data-urlencode redirect_uri=http://127.0.0.1/callback)
    location=${location#*code=}
    curl -sS --fail-with-body "$am_url/oauth2/access_token" -d grant_type=authorization_code -d client_id=app \
        -d "code=${location%%&*}" -d "code_verifier=$verifier" --data-urlencode redirect_uri=http://127.0.0.1/callback
}

# claims: the claims of the id_token in an answer with tokens.
claims() { jq -c '.id_token | split(".")[1] | gsub("-"; "+") | gsub("_"; "/") | @base64d | fromjson'; }
