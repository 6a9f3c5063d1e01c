// Tokens that stay alive: kept in the user's vault, renewed when they are asked for, ended by logging out.
import SignetCore
import SignetJourney
import SignetNetwork
import SignetStorage

// snippet.hide
func stayLoggedIn(transport: any HTTPTransport, delivered: SSOToken) async throws {
    // snippet.show
    let endpoints = OAuthEndpoints(
        session: "https://am.example.com/am/json/realms/root/realms/alpha/sessions",
        discovery: "https://am.example.com/am/oauth2/realms/root/realms/alpha/.well-known/openid-configuration",
        pins: [try PublicKeyPin("47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")])
    let client = OAuthClient(
        clientID: "desktop", redirectURI: "https://app.example.com/callback", scopes: ["openid", "profile"])
    let store = try SessionStore.keychain(account: "com.example.app")
    let tokens = TokenSource(endpoints, client: client, store: store, transport: transport)

    // A journey has ended with a session: what came from another one is revoked and removed.
    try await tokens.adopt(delivered)

    // Ask whenever a token is needed; never keep one.
    let token = try await tokens.token()
    let orders = HTTPRequest(
        "GET", "https://api.example.com/orders", headers: ["Authorization": token.authorization])
    _ = try await transport.deliver(orders)

    // Or have it added, and renewed once when the server does not take it.
    let api = AuthorizedTransport(transport, tokens: tokens, origins: [try Endpoint("https://api.example.com")])
    _ = try await api.send(HTTPRequest("GET", "https://api.example.com/orders"))

    let report = await tokens.logOut()
    if case .failed(let error) = report.tokens { log("the tokens live on at the server: \(error)") }
    // snippet.hide
}

func log(_ line: String) {}

func logInWithBrowser(tokens: TokenSource) async throws -> AccessToken {
    // snippet.show
    try await BrowserLogin(tokens).logIn()
    // snippet.hide
}

func logInElsewhere(tokens: TokenSource, show: (String) -> Void) async throws -> AccessToken {
    // snippet.show
    let login = DeviceLogin(tokens)
    let invitation = try await login.begin()
    show("Open \(invitation.verificationURI) and enter \(invitation.userCode)")
    return try await login.finish(invitation)
    // snippet.hide
}
