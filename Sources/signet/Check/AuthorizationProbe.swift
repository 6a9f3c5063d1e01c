import SignetCore
import SignetNetwork

/// The requests of `signet check --active` to the authorization endpoint, which need no login.
///
/// Each differs in one point from a request that is right. A server that answers it as it answers the right one accepts it, or checks
/// the point only after the login.
struct AuthorizationProbe: Sendable {
    typealias Fields = [(name: String, value: String)]

    /// The authorization endpoint.
    let endpoint: String
    let clientID: String
    /// The registered redirect URI.
    let redirectURI: String
    let scope: String
    /// The issuer, and whether the metadata promises it in responses (RFC 9207).
    let issuer: String
    let namesIssuer: Bool
    let transport: any HTTPTransport

    /// The code verifier of the requests, which no request for tokens uses.
    private let verifier = Secret.random(byteCount: 32)
    private let state = Base64.encode(Secret.random(byteCount: 16).bytes, as: .url)

    /// Sends all requests, and returns the findings.
    /// - Throws: ``Failure`` when the server refuses the right request, so that no other one says anything; `TransportError`.
    func findings() async throws -> [CheckFinding] {
        let right = try await answer(fields)
        guard right.status < 400, error(in: right) == nil || isOfMissingSession(right) else {
            let reason = error(in: right) ?? AuthorizationResponse.error(status: right.status, body: right.body)?.description
            throw Failure(
                .badInput, "check.client",
                "the provider refuses a request of the client \(clientID) with \(redirectURI) (\(reason ?? "status \(right.status)")): "
                    + "register both, or use those that are registered")
        }
        var findings: [CheckFinding] = []
        for variant in RedirectVariants(redirectURI).all {
            findings.append(try await redirectFinding(variant, Kind(right)))
        }
        findings += try await responseFindings()
        findings.append(
            try await challengeFinding("pkce-absent", "without a code challenge", Kind(right)) { field in
                !field.name.hasPrefix("code_challenge")
            })
        findings.append(try await plainFinding(Kind(right)))
        findings.append(try await implicitFinding(Kind(right)))
        return findings
    }

    // MARK: Requests

    /// The fields of the right request.
    private var fields: Fields {
        [
            ("response_type", "code"), ("client_id", clientID), ("redirect_uri", redirectURI), ("scope", scope), ("state", state),
            ("code_challenge", ProofKey.challenge(for: Base64.encode(verifier.bytes, as: .url))),
            ("code_challenge_method", "S256"), ("nonce", state),
        ]
    }

    private func changed(_ name: String, to value: String) -> Fields {
        fields.map { (name: $0.name, value: $0.name == name ? value : $0.value) }
    }

    /// Returns the fields of a request that must be answered without a page.
    private func silent(_ fields: Fields) -> Fields {
        var fields = fields
        fields.append((name: "prompt", value: "none"))
        return fields
    }

    private func answer(_ fields: Fields) async throws(TransportError) -> HTTPResponse {
        try await transport.send(
            HTTPRequest("GET", FormCoding.address(endpoint, adding: fields), headers: ["Accept": "text/html"]))
    }

    /// The kind of an answer: its status, the page to which it redirects, and the title of its page.
    private struct Kind: Sendable, Hashable {
        let status: Int
        let location: String?
        let title: String?

        init(_ response: HTTPResponse) {
            status = response.status
            location = response.headers["Location"].map { String($0.prefix { $0 != "?" && $0 != "#" }) }
            title = WebPage(response.body)?.title
        }
    }

    /// Returns the error name in a redirect to the client; nil for any other response.
    private func error(in response: HTTPResponse) -> String? { returned(response)?["error"] }

    /// Returns the fields of a redirect to the client; nil for any other response.
    private func returned(_ response: HTTPResponse) -> [String: String]? {
        guard (300..<400).contains(response.status), let location = response.headers["Location"],
            AuthorizationResponse.isAnswer(location, to: redirectURI)
        else { return nil }
        let parts = location.split(separator: "#", maxSplits: 1)
        let fragment = parts.count == 2 ? FormCoding.decode(parts[1]) : [:]
        return FormCoding.query(of: String(parts.first ?? "")).merging(fragment) { query, _ in query }
    }

    /// True for the answer of a server that would show a login page to a browser.
    private func isOfMissingSession(_ response: HTTPResponse) -> Bool {
        ["login_required", "interaction_required", "consent_required"].contains(error(in: response) ?? "")
    }

    // MARK: Findings

    private func redirectFinding(_ variant: RedirectVariants.Variant, _ right: Kind) async throws -> CheckFinding {
        let response = try await answer(changed("redirect_uri", to: variant.address))
        let id = "redirect-\(variant.id)"
        if let location = response.headers["Location"], (300..<400).contains(response.status),
            variant.isReached(by: location)
        {
            return CheckFinding(id, .redirects, .fail, "the provider redirects to \(variant.description)")
        }
        guard Kind(response) != right else {
            return CheckFinding(
                id, .redirects, .warn,
                "the provider answers \(variant.description) as the registered address: it accepts it, or checks it after the login"
            )
        }
        return CheckFinding(id, .redirects, .pass, "the provider refuses \(variant.description)")
    }

    /// Returns the findings about a response that the server sends without a login.
    private func responseFindings() async throws -> [CheckFinding] {
        let response = try await answer(silent(fields))
        guard let returned = returned(response) else {
            let reason = "the provider does not answer a request with prompt=none by a redirect to the client"
            return [
                CheckFinding("response-state", .redirects, .skipped, reason),
                CheckFinding("response-issuer", .redirects, .skipped, reason),
                CheckFinding("redirect-status", .redirects, .skipped, reason),
            ]
        }
        let issuerFinding: CheckFinding =
            if let named = returned["iss"] {
                named == issuer
                    ? CheckFinding("response-issuer", .redirects, .pass, "the response names the issuer")
                    : CheckFinding("response-issuer", .redirects, .fail, "the response names another issuer: \(named)")
            } else {
                CheckFinding(
                    "response-issuer", .redirects, namesIssuer ? .fail : .warn,
                    namesIssuer ? "the response lacks the iss that the metadata promises" : "the response has no iss (RFC 9207)")
            }
        return [
            CheckFinding(
                "response-state", .redirects, returned["state"] == state ? .pass : .fail,
                returned["state"] == state
                    ? "the response has the state of the request" : "the response lacks the state of the request"),
            issuerFinding,
            CheckFinding(
                "redirect-status", .redirects, response.status == 307 ? .fail : .pass,
                response.status == 307
                    ? "the status 307 lets a browser repeat a posted password at the client (section 4.12)"
                    : "the redirect has the status \(response.status) and not 307"),
        ]
    }

    private func challengeFinding(
        _ id: String, _ words: String, _ right: Kind, keeping isKept: ((name: String, value: String)) -> Bool
    ) async throws -> CheckFinding {
        let response = try await answer(fields.filter(isKept))
        guard Kind(response) != right || error(in: response) != nil else {
            return CheckFinding(
                id, .codeGrant, .warn, "the provider accepts a request \(words), or checks it after the login")
        }
        return CheckFinding(id, .codeGrant, .pass, "the provider refuses a request \(words)")
    }

    private func plainFinding(_ right: Kind) async throws -> CheckFinding {
        let response = try await answer(changed("code_challenge_method", to: "plain"))
        guard Kind(response) != right || error(in: response) != nil else {
            return CheckFinding(
                "pkce-plain-request", .codeGrant, .warn,
                "the provider accepts a challenge with the method plain, or checks it after the login")
        }
        return CheckFinding("pkce-plain-request", .codeGrant, .pass, "the provider refuses a challenge with the method plain")
    }

    private func implicitFinding(_ right: Kind) async throws -> CheckFinding {
        let response = try await answer(silent(changed("response_type", to: "token")))
        let id = "implicit-request"
        if returned(response)?["access_token"] != nil {
            return CheckFinding(id, .implicitGrant, .fail, "the provider issues an access token in the response to the client")
        }
        guard Kind(response) != right, !isOfMissingSession(response) else {
            return CheckFinding(
                id, .implicitGrant, .warn, "the provider accepts response_type=token for the client, or checks it after the login"
            )
        }
        return CheckFinding(id, .implicitGrant, .pass, "the provider refuses response_type=token for the client")
    }
}
