// A service with a back-channel logout address: the OpenID provider reports that sessions of a user have ended.
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetStorage

// snippet.hide
/// The sessions of the app's users.
protocol AppSessions: Sendable {
    func end(issuer: String, id: String?, subject: String?) async throws
}

func makeVerifier(memory: any LogoutTokenMemory) -> LogoutTokenVerifier {
    // snippet.show
    LogoutTokenVerifier(
        OAuthEndpoints(issuer: "https://op.example.com", discovery: "https://op.example.com/.well-known/openid-configuration"),
        clientID: "web", memory: memory, transport: AsyncHTTPTransport(), policy: LogoutTokenPolicy(algorithm: "RS256"))
    // snippet.hide
}

func respondToLogout(
    _ body: [UInt8], _ verifier: LogoutTokenVerifier, _ sessions: any AppSessions, log: (any Error) -> Void
) async -> HTTPResponse {
    // snippet.show
    // With a session ID, one session ends. Without one, all sessions of the subject end.
    let answer = await verifier.answer(body) { token in
        try await sessions.end(issuer: token.issuer, id: token.sessionID, subject: token.subject)
    }
    if case .failure(let error) = answer.outcome { log(error) }
    return answer.response
    // snippet.hide
}

func makeMemory(isShared: Bool) throws -> any LogoutTokenMemory {
    guard isShared else { return ProcessLogoutTokenMemory() }
    // snippet.show
    // The processes of one machine share a file, which the setup of the service has made with `creating: true`.
    let store = try SQLiteStore(path: "/var/lib/app/logout-tokens.sqlite")
    return RecordLogoutTokenMemory(store)
    // snippet.hide
}
