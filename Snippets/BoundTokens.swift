// Tokens that are bound to a key of this machine, tokens of a service, and a question to a user on another device.
import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth

// snippet.hide
func readOrders(_ profile: ServerProfile) async throws -> HTTPResponse {
    var profile = profile
    // snippet.show
    profile.client?.dpop = .best
    let app = try IdentityClient(profile, account: "com.example.app")
    let api = app.authorized(for: [try Endpoint("https://api.example.com")])
    let response = try await api.send(HTTPRequest("GET", "https://api.example.com/orders"))
    // snippet.hide
    return response
}

func makeService(_ profile: ServerProfile, _ store: SessionStore, _ transport: any HTTPTransport) throws -> TokenSource {
    var profile = profile
    // snippet.show
    let key = try ClientKey(file: "/etc/billing/client.pem")
    profile.client = OAuthClient(service: "billing", scopes: ["read"], authentication: .privateKeyJWT(key))
    let tokens = try TokenSource(service: profile, store: store, transport: transport)
    // snippet.hide
    return tokens
}

func askForApproval(_ app: IdentityClient) async throws -> [String: JSONValue] {
    // snippet.show
    let login = app.backchannelLogin()
    let request = try await login.begin(user: "mira", message: "Deploy 4711?")
    let claims = try await login.confirm(request)
    // snippet.hide
    return claims
}
