import AsyncHTTPClient
import Foundation
import NIOCore
import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth
import SignetTesting

/// A whole login over loopback, from the journey's first step to the access token, beside the same four requests made bare with
/// the same HTTP client on one connection: the requests that a login made, byte for byte, sent again one after another, each
/// answer collected whole.
///
/// The bare side reads nothing of the answers, draws no randomness, and keeps nothing, so the ratio says what all of that adds to
/// the requests: two steps read and one answered, PKCE and state, the checks of the answers, session and tokens stored in memory.
/// The server does next to nothing, and the same for both.
enum LoginRow {
    static func measure() async throws -> Row {
        let server = try LoopbackServer { LoginServer.answer($0) }
        defer { server.stop() }
        let outcome = try await RaceClients.with { transport, client in try await race(server, transport, client) }
        return Row("login (2 callbacks, authorize, token), beside its 4 requests replayed", outcome, .atMost(1.3))
    }

    private static func race(
        _ server: LoopbackServer, _ transport: AsyncHTTPTransport, _ client: HTTPClient
    ) async throws -> Race.Outcome {
        let server = try LoginServer(port: server.port)
        let recorder = ScriptedTransport { request throws(TransportError) in try await transport.send(request) }
        _ = try await server.logIn(over: recorder)
        let requests = recorder.requests.map { HTTPClientRequest($0) }
        guard requests.count == 4 else { throw BenchError("a login made \(requests.count) requests") }
        let ours = Contender.timed("IdentityClient") { try await server.logIn(over: transport) }
        let reference = Contender.timed("HTTPClient.execute") {
            // An app is made, untimed, as on the other side.
            _ = try server.app(over: transport)
            return try await ContinuousClock().measure {
                for request in requests {
                    _ = try await client.execute(request, timeout: .seconds(30)).body.collect(upTo: 1 << 20)
                }
            }
        }
        return try await Race(ours: ours, reference: reference).run()
    }
}

/// Logins at a server that accepts every login, each of an app that has just been made.
private struct LoginServer {
    private let profile: ServerProfile

    init(port: UInt16) throws {
        profile = try ServerProfile(url: "http://127.0.0.1:\(port)/am", realm: "alpha") {
            // Known, as it is to an app that has run before; without it the first login asks for it.
            $0.issuer = "http://127.0.0.1:\(port)/am/oauth2/alpha"
            $0.client = OAuthClient(clientID: "bench", redirectURI: "https://app.example.com/cb", scopes: ["profile"])
        }
    }

    func app(over transport: any HTTPTransport) throws -> IdentityClient {
        try IdentityClient(profile, store: .memory(), transport: transport)
    }

    /// Measures one login.
    func logIn(over transport: any HTTPTransport) async throws -> Duration {
        let app = try app(over: transport)
        let password = Secret("correct horse".utf8)
        let begin = ContinuousClock.now
        guard case .step(var step) = try await app.journeys.start() else { throw BenchError("the journey has no step") }
        try step.fill(NameCallback.self) { $0.name = "mira" }
        try step.fill(PasswordCallback.self) { $0.fill(password) }
        guard case .loggedIn = try await app.journeys.next(step) else { throw BenchError("the journey did not end") }
        let token = try await app.tokens.token()
        let end = ContinuousClock.now
        guard token.refreshToken != nil else { throw BenchError("no tokens came") }
        return end - begin
    }

    /// Returns the server's answer to a request with this first line.
    static func answer(_ line: String) -> [UInt8] {
        let target = String(line.split(separator: " ").dropFirst().first ?? "")
        if target.contains("/authorize?") {
            let state = FormCoding.query(of: target)["state"] ?? ""
            let location = "https://app.example.com/cb?code=SplxlOBeZQQYbYS6WxSbIA&state=\(state.percentEncoded())"
            return Array("HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n".utf8)
        }
        if target.hasSuffix("/access_token") { return tokens }
        return target.contains("authIndexType") ? step : end
    }

    private static let step = LoopbackServer.response(
        #"{"authId":"\#(String(repeating: "eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9", count: 12))","callbacks":["#
            + #"{"type":"NameCallback","output":[{"name":"prompt","value":"User Name"}],"#
            + #""input":[{"name":"IDToken1","value":""}],"_id":0},"#
            + #"{"type":"PasswordCallback","output":[{"name":"prompt","value":"Password"}],"#
            + #""input":[{"name":"IDToken2","value":""}],"_id":1}],"stage":"UsernamePassword"}"#)
    private static let end = LoopbackServer.response(
        #"{"tokenId":"AQIC5wM2LY4SfczEfc7BdqIbmaYSiuiQW8sDm7BFqgk","successUrl":"/am/console","realm":"/alpha"}"#)
    private static let tokens = LoopbackServer.response(
        #"{"access_token":"eyJ0eXAiOiJKV1QiLCJ6aXAiOiJOT05FIn0","refresh_token":"eyJ0eXAiOiJKV1QiLCJ6aXAiOiJ","#
            + #""scope":"profile","token_type":"Bearer","expires_in":3599}"#)
}
