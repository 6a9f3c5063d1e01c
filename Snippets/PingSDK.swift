// The calls of the Ping SDK: a login, a module and a callback of the app, tokens, one-time codes, push, policies.
import PingJourney
import PingOath
import PingOidc
import PingOrchestrate
import PingPush
import SignetStorage

// snippet.hide
func logIn(password secret: String) async throws -> Token? {
    // snippet.show
    let journey = Journey.createJourney { config in
        config.serverUrl = "https://am.example.com/am"
        config.realm = "alpha"
        config.cookie = "iPlanetDirectoryPro"
        config.module(PingJourney.OidcModule.config) { oidc in
            oidc.clientId = "app"
            oidc.discoveryEndpoint = "https://am.example.com/am/oauth2/alpha/.well-known/openid-configuration"
            oidc.scopes = ["openid", "profile"]
            oidc.redirectUri = "com.example.app://callback"
        }
    }
    // snippet.hide
    // snippet.show
    let node = await journey.start("Login")
    guard let step = node as? ContinueNode else { return nil }  // An ErrorNode or a FailureNode says why.
    for callback in step.callbacks {
        if let name = callback as? NameCallback { name.name = "demo" }
        if let password = callback as? PasswordCallback { password.password = secret }
    }
    guard await step.next() is SuccessNode, let user = await journey.journeyUser() else { return nil }
    let token = try await user.token().get()
    // snippet.hide
    return token
}

// snippet.show
/// A callback that a node of the server's own sends.
final class ColorCallback: AbstractCallback {
    var color = ""

    override func initValue(name: String, value: Any) {
        if name == "color", let text = value as? String { color = text }
    }

    override func payload() -> [String: Any] { input(color) }
}
// snippet.hide

func makeJourney() async -> Journey {
    // snippet.show
    await CallbackRegistry.shared.register(type: "ColorCallback", callback: ColorCallback.self)
    // snippet.hide
    // snippet.show
    let journey = Journey.createJourney { config in
        config.serverUrl = "https://am.example.com/am"
        config.realm = "alpha"
        config.module(CustomHeader.config) { headers in headers.header(name: "X-App-Version", value: "4.2") }
    }
    // snippet.hide
    return journey
}

func readToken() async throws -> Token {
    // snippet.show
    let config = OidcClientConfig()
    config.clientId = "app"
    config.discoveryEndpoint = "https://am.example.com/am/oauth2/alpha/.well-known/openid-configuration"
    config.scopes = ["openid", "profile"]
    config.redirectUri = "com.example.app://callback"
    let user = OidcUser(config: config)
    let token = try await user.token().get()
    // snippet.hide
    return token
}

func makeClients(vault: Vault) async throws -> (OathClient, PushClient) {
    // snippet.show
    let oath = try await OathClient.createClient { config in
        config.enableCredentialCache = false
        config.logger = LogManager.warning
    }
    let push = try await PushClient.createClient { config in config.storage = AccountRecords(vault) }
    // snippet.hide
    return (oath, push)
}

func evaluate(_ policies: String) async -> Bool {
    // snippet.show
    let evaluator = MfaPolicyEvaluator.create { config in config.policies = [DeviceTamperingPolicy()] }
    let result = await evaluator.evaluate(credentialPolicies: policies)
    // snippet.hide
    return result.isSuccess
}
