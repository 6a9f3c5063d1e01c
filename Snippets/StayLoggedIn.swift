// One app at one server: logged in by a journey, tokens that stay alive in the user's vault, ended by logging out.
import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth
import SignetStorage

// snippet.hide
func stayLoggedIn(name: String, password: Secret) async throws {
    // snippet.show
    let pin = try PublicKeyPin("47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
    let profile = try ServerProfile(url: "https://am.example.com/am", realm: "alpha") {
        $0.client = OAuthClient(
            clientID: "desktop", redirectURI: "https://app.example.com/callback", scopes: ["openid", "profile"])
        $0.pins = [pin]
    }
    let app = try IdentityClient(profile, account: "com.example.app")

    // The session at the journey's end is kept; what came from another one is revoked and removed.
    var state = try await app.journeys.start()
    while case .step(var step) = state {
        try step.fill(NameCallback.self) { $0.name = name }
        try step.fill(PasswordCallback.self) { $0.fill(password) }
        state = try await app.journeys.next(step)
    }

    // Ask whenever a token is needed; never keep one.
    let token = try await app.tokens.token()
    var orders = HTTPRequest("GET", "https://api.example.com/orders")
    orders.headers.set("Authorization", token.authorization)

    // Or have it added, and renewed once when the server does not take it.
    let api = app.authorized(for: [try Endpoint("https://api.example.com")])
    _ = try await api.send(HTTPRequest("GET", "https://api.example.com/orders"))

    let report = await app.logOut()
    if case .failed(let error) = report.tokens { log("the tokens live on at the server: \(error)") }
    // snippet.hide
}

func log(_ line: String) {}

func logInWithBrowser(app: IdentityClient) async throws -> AccessToken {
    // snippet.show
    try await app.browserLogin().logIn()
    // snippet.hide
}

func logInElsewhere(app: IdentityClient, show: (String) -> Void) async throws -> AccessToken {
    // snippet.show
    let login = app.deviceLogin()
    let invitation = try await login.begin()
    show("Open \(invitation.verificationURI) and enter \(invitation.userCode)")
    return try await login.finish(invitation)
    // snippet.hide
}

func logOutInBrowser(app: IdentityClient) async -> LogOutReport {
    // snippet.show
    let report = await app.browserLogOut().logOut()
    // snippet.hide
    return report
}
