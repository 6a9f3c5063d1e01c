import Foundation
import Hummingbird
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetVerifier

// A service that accepts the access tokens of a provider, as bearer tokens and with DPoP proofs.
//
//     ResourceServer ISSUER BASE-URL PORT                          the tokens are JWTs
//     ResourceServer ISSUER BASE-URL PORT CLIENT-ID SECRET-FILE    the provider is asked about each token
//
// BASE-URL is the address of the service as its clients write it. A token must have it as an audience; with CLIENT-ID, that ID is accepted
// too, because AM names the client as the audience. GET /orders needs the scope `openid`, GET /orders/all also `admin`.

@main
struct App {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 4 || arguments.count == 6, let port = Int(arguments[3]) else {
            report("usage: ResourceServer ISSUER BASE-URL PORT [CLIENT-ID SECRET-FILE]")
            exit(64)
        }
        do {
            var verification = TokenVerification.keys
            var audiences = [arguments[2]]
            if arguments.count == 6 {
                let file = try String(contentsOfFile: arguments[5], encoding: .utf8)
                let secret = Secret(file.trimmingCharacters(in: .whitespacesAndNewlines).utf8)
                verification = .introspection(
                    clientID: arguments[4], authentication: .clientSecretBasic(secret), rememberedFor: .seconds(5))
                audiences.append(arguments[4])
            }
            try await run(
                issuer: arguments[1], baseURL: arguments[2], port: port, verification, AccessTokenPolicy(audiences: audiences))
        } catch {
            report("ResourceServer: \(error)")
            exit(1)
        }
    }

    /// Writes a line to standard error.
    private static func report(_ line: String) {
        FileHandle.standardError.write(Data("\(line)\n".utf8))
    }

    /// Runs the service until SIGTERM or SIGINT ends it.
    private static func run(
        issuer: String, baseURL: String, port: Int, _ verification: TokenVerification, _ policy: AccessTokenPolicy
    ) async throws {
        let transport = AsyncHTTPTransport()
        let verifier = AccessTokenVerifier(
            OAuthEndpoints(issuer: issuer, discovery: issuer + "/.well-known/openid-configuration"),
            verification: verification, policy: policy, proofs: ProofPolicy(baseURL: baseURL), transport: transport)
        let app = Application(
            router: router(verifier),
            configuration: ApplicationConfiguration(
                address: .hostname("127.0.0.1", port: port), serverName: "ResourceServer"))
        try await app.runService()
        await transport.close()
    }

    private static func router(_ verifier: AccessTokenVerifier) -> Router<BasicAccessTokenRequestContext> {
        let router = Router(context: BasicAccessTokenRequestContext.self)
        let orders = router.group("orders").add(middleware: AccessTokenMiddleware(verifier, scopes: ["openid"]))
        orders.get { _, context -> Orders in
            let token = try context.requireAccessToken()
            return Orders(user: token.subject ?? "unknown", orders: ["4711", "4712"])
        }
        orders.group("all").add(middleware: RequiredScopesMiddleware(verifier, ["admin"])).get { _, _ -> Orders in
            Orders(user: "all", orders: ["4711", "4712", "4713"])
        }
        return router
    }
}

/// The answer to `GET /orders`.
struct Orders: ResponseEncodable {
    let user: String
    let orders: [String]
}
