import ArgumentParser
import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth

struct Token: NetworkedCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Print an access token that is good, and nothing else.",
        discussion: """
            A token that ends within a minute is renewed first: by its refresh token, or by the session. Where that fails for a \
            reason that may pass, the old one is printed until it ends. However many processes ask at once, the server is asked \
            once. When the login has ended the exit code is 77, and 'signet login' is the way on. So it is when --refresh finds \
            neither a refresh token nor a session: then it says until when the token is good.

                curl -H "Authorization: Bearer $(signet token)" https://api.example.com
            """)

    @Flag(help: "Renew the token even if it is still good.")
    var refresh = false

    @Flag(help: "Ask no server: print the token that is stored if it has not ended.")
    var offline = false

    @OptionGroup var profile: ProfileOptions

    @Flag(help: "Print JSON: accessToken, tokenType, expiresAt, scope, profile, server.")
    var json = false

    func validate() throws {
        if refresh, offline { throw ValidationError("--refresh asks the server, and --offline does not: use one of them.") }
    }

    func run() async throws {
        let (session, profile) = try profile.open()
        guard try profile.server().client != nil else {
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
