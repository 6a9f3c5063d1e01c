import Foundation
import Hummingbird
import SignetCore
import SignetNetwork
import SignetOAuth

// A service that accepts the access tokens of an AM, or of another OpenID provider with introspection (RFC 7662).
//
//     TokenService ISSUER CLIENT-ID SECRET-FILE PORT
//
// SECRET-FILE has the secret of the client with which the service authenticates to the provider. GET /orders needs an access token;
// POST /logout is the back-channel logout address of the client.

@main
struct App {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let port = Int(arguments[4]) else {
            report("usage: TokenService ISSUER CLIENT-ID SECRET-FILE PORT")
            exit(64)
        }
        do {
            try await run(issuer: arguments[1], clientID: arguments[2], secretFile: arguments[3], port: port)
        } catch {
            report("TokenService: \(error)")
            exit(1)
        }
    }

    /// Writes a line to standard error.
    private static func report(_ line: String) {
        FileHandle.standardError.write(Data("\(line)\n".utf8))
    }

    /// Runs the service until SIGTERM or SIGINT ends it.
    private static func run(issuer: String, clientID: String, secretFile: String, port: Int) async throws {
        let file = try String(contentsOfFile: secretFile, encoding: .utf8)
        let secret = Secret(file.trimmingCharacters(in: .whitespacesAndNewlines).utf8)
        let transport = AsyncHTTPTransport()
        let tokens = ActiveTokens(Introspection(issuer: issuer, clientID: clientID, secret: secret, transport: transport))
        let verifier = LogoutTokenVerifier(
            OAuthEndpoints(issuer: issuer, discovery: issuer + "/.well-known/openid-configuration"), clientID: clientID,
            memory: ProcessLogoutTokenMemory(), transport: transport, policy: LogoutTokenPolicy(algorithm: "RS256"))
        let app = Application(
            router: router(tokens, verifier),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port), serverName: "TokenService"))
        try await app.runService()
        await transport.close()
    }

    private static func router(_ tokens: ActiveTokens, _ verifier: LogoutTokenVerifier) -> Router<BasicRequestContext> {
        let router = Router(context: BasicRequestContext.self)
        router.get("orders") { request, _ -> Orders in
            let access = try await Self.claims(of: request, requiring: "openid", tokens)
            return Orders(user: access.sub ?? "unknown", orders: ["4711", "4712"])
        }
        router.post("logout") { request, _ -> Response in
            let body = try await request.body.collect(upTo: LogoutTokenVerifier.maximumLength)
            let answer = await verifier.answer(Array(body.readableBytesView)) { token in
                await tokens.forget(user: token.subject)
            }
            let content = answer.response.body
            return Response(
                status: .init(code: answer.response.status),
                headers: content.isEmpty
                    ? [.cacheControl: "no-store"] : [.cacheControl: "no-store", .contentType: "application/json"],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: content)))
        }
        return router
    }

    /// Returns the claims of the access token of a request.
    /// - Parameters:
    ///   - request: The request, with the token in the header field `Authorization` (RFC 6750 section 2.1).
    ///   - scope: The scope that the token must have.
    ///   - tokens: The tokens that are known to be active.
    /// - Returns: The claims.
    /// - Throws: `HTTPError`: 401 and 403 as RFC 6750 section 3.1 has them, and 503 when the provider cannot be asked.
    private static func claims(
        of request: Request, requiring scope: String, _ tokens: ActiveTokens
    ) async throws -> AccessClaims {
        let parts = (request.headers[.authorization] ?? "").split(separator: " ")
        guard parts.count == 2, parts[0].lowercased() == "bearer" else {
            throw HTTPError(.unauthorized, headers: [.wwwAuthenticate: "Bearer"], message: "an access token is needed")
        }
        let found: AccessClaims?
        do {
            found = try await tokens.claims(of: Secret(parts[1].utf8))
        } catch {
            throw HTTPError(.serviceUnavailable, message: "the access token could not be verified")
        }
        guard let found else {
            throw HTTPError(
                .unauthorized, headers: [.wwwAuthenticate: #"Bearer error="invalid_token""#], message: "the token is not active")
        }
        guard found.scopes.contains(scope) else {
            let challenge = #"Bearer error="insufficient_scope", scope="\#(scope)""#
            throw HTTPError(.forbidden, headers: [.wwwAuthenticate: challenge], message: "the token lacks the scope \(scope)")
        }
        return found
    }
}

/// The answer to `GET /orders`.
struct Orders: ResponseEncodable {
    let user: String
    let orders: [String]
}
