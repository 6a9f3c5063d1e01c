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

            EXAMPLES:
              signet token
              curl -H "Authorization: Bearer $(signet token)" \\
                https://api.example.com
            """)

    @Flag(help: "Renew the token even if it is still valid.")
    var refresh = false

    @Flag(help: "Send no request: print the stored token unless it has expired.")
    var offline = false

    @OptionGroup var profile: ProfileOptions

    @Flag(help: "Print JSON: accessToken, tokenType, expiresAt, scope, profile, server.")
    var json = false

    func validate() throws {
        if refresh, offline { throw ValidationError("--refresh asks the server, and --offline does not: use one of them.") }
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
        Console.line(json ? JSONText.line(description(of: token, profile)) : TerminalText(token.value.text))
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

    private func description(of token: AccessToken, _ profile: LoginProfile) -> JSONValue {
        JSONText.object([
            "accessToken": .string(token.value.text), "tokenType": .string(token.tokenType),
            "expiresAt": .string(token.expiresAt?.text), "scope": .string(token.scope), "profile": .string(profile.name),
            "server": .string(profile.url),
        ])
    }
}
