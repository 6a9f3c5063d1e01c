import ArgumentParser
import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth

struct Token: NetworkedCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Print a valid access token, and nothing else.",
        discussion: """
            A token that expires within a minute is renewed first, with its refresh token or with the session. If that fails for a \
            temporary reason, signet prints the old token until it expires. When several processes renew a token at the same \
            time, only one request is sent. When the login has ended, the exit code is 77: run 'signet login'. The exit code is \
            also 77 when --refresh finds neither a refresh token nor a session; the error has the time at which the token expires.

            With the setting client.dpop the token is bound to a key, and each request with it needs a proof of possession. --dpop \
            prints the two header fields of one request, a line for each: Authorization and DPoP. A server accepts a proof once, and \
            for about a minute. A server that answers with status 401 and a header DPoP-Nonce requires its value: --nonce.

            EXAMPLES:
              signet token
              curl -H "Authorization: Bearer $(signet token)" \\
                https://api.example.com
              signet token --dpop https://api.example.com/orders |
                curl -H @- https://api.example.com/orders
            """)

    @Flag(help: "Renew the token even if it is still valid.")
    var refresh = false

    @Flag(help: "Send no request: print the stored token unless it has expired.")
    var offline = false

    @Option(
        help: ArgumentHelp(
            "Print the header fields for a request to this address: the token, and the proof of possession of its key.",
            valueName: "url"))
    var dpop: String?

    @Option(help: ArgumentHelp("The method of the request for --dpop. Default: GET.", valueName: "method"))
    var method: String?

    @Option(help: ArgumentHelp("The nonce of the server for --dpop, from its header DPoP-Nonce.", valueName: "nonce"))
    var nonce: String?

    @OptionGroup var profile: ProfileOptions

    @Flag(help: "Print JSON: accessToken, tokenType, expiresAt, scope, profile, server; with --dpop also proof.")
    var json = false

    func validate() throws {
        if refresh, offline { throw ValidationError("--refresh asks the server, and --offline does not: use one of them.") }
        guard dpop != nil || method == nil && nonce == nil else {
            throw ValidationError("--method and --nonce are for the request of --dpop: add --dpop URL.")
        }
        // The characters of a token (RFC 9110 section 9.1), which methods are.
        guard method.map({ !$0.isEmpty && $0.utf8.allSatisfy { $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "-") } }) ?? true
        else {
            throw ValidationError("--method takes an HTTP method, such as POST.")
        }
        if let nonce, nonce.isEmpty || !nonce.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
            throw ValidationError("--nonce takes the value of the header DPoP-Nonce.")
        }
        if let dpop, (try? Endpoint(unchecked: dpop)) == nil {
            throw ValidationError("--dpop takes the address of the request, with http or https.")
        }
    }

    func run() async throws {
        let (session, profile) = try profile.open()
        guard try profile.server(requiresSecret: false).client != nil else {
            throw Failure(
                .badInput, "token.notConfigured",
                "no OAuth 2.0 client is known for \(profile.url), so there are no tokens: signet login --profile \(profile.name)"
                    + " --client ID")
        }
        let token = offline ? try await stored(profile, session) : try await current(profile, session)
        guard let url = dpop else {
            return Console.line(json ? JSONText.line(description(of: token, profile)) : TerminalText(token.value.text))
        }
        let proof = try await proof(for: url, with: token, profile, session)
        guard !json else { return Console.line(JSONText.line(description(of: token, profile, proof: proof))) }
        Console.line("Authorization: \(token.authorization)")
        Console.line("DPoP: \(proof)")
    }

    /// Returns the proof of possession for a request that another program sends.
    private func proof(
        for url: String, with token: AccessToken, _ profile: LoginProfile, _ session: Session
    ) async throws -> String {
        let request = (method: method?.uppercased() ?? "GET", nonce: nonce)
        let proof = try await profile.use(session) { client in
            try await client.tokens.proof(request.method, url, with: token, nonce: request.nonce)
        }
        guard let proof else {
            throw Failure(
                .badInput, "token.notBound",
                "the token for \(profile.url) is not bound to a key, so it needs no proof; to bind tokens, log in with client.dpop: best "
                    + "in --settings")
        }
        return proof
    }

    private func current(_ profile: LoginProfile, _ session: Session) async throws -> AccessToken {
        let refresh = refresh
        return try await profile.use(session) { client in
            guard refresh else { return try await client.tokens.token() }
            do throws(TokenError) {
                return try await client.tokens.refresh()
            } catch {
                // A token that can't be renewed is still good.
                guard error.code == .loginRequired, let token = try await client.reader.token() else { throw error }
                throw profile.notRenewable(until: token.expiresAt)
            }
        }
    }

    private func stored(_ profile: LoginProfile, _ session: Session) async throws -> AccessToken {
        let reader = try profile.client(session, NoTransport()).reader
        guard let token = try await reader.storedToken() else {
            throw profile.loginRequired("there is no token for \(profile.url)")
        }
        if let end = token.expiresAt, token.isExpired(at: session.now) {
            throw Failure(
                .notAllowed, "token.expired", "the token for \(profile.url) ended at \(end.text); without --offline it is renewed"
            )
        }
        return token
    }

    private func description(of token: AccessToken, _ profile: LoginProfile, proof: String? = nil) -> JSONValue {
        JSONText.object([
            "accessToken": .string(token.value.text), "tokenType": .string(token.tokenType),
            "expiresAt": .string(token.expiresAt?.text), "scope": .string(token.scope), "profile": .string(profile.name),
            "server": .string(profile.url), "proof": .string(proof),
        ])
    }
}
