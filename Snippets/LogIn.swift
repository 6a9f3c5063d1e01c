// Log in with a journey: answer the questions of the server, and wait where the server asks for it.
import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth

// snippet.hide
func logIn(name: String, password: Secret, over transport: any HTTPTransport) async throws -> SSOToken? {
    // snippet.show
    let profile = try ServerProfile(url: "https://am.example.com/am", realm: "alpha") {
        $0.cookieName = "46b42b4229cd7a3"
    }
    let journeys = Journey(profile, transport: transport)
    var state = try await journeys.start("Login")
    while case .step(var step) = state {
        for callback in step.callbacks.compactMap(\.typed) {
            switch callback {
            case is NameCallback: try step.fill(NameCallback.self) { $0.name = name }
            case is PasswordCallback: try step.fill(PasswordCallback.self) { $0.fill(password) }
            case let choice as ChoiceCallback where !choice.choices.isEmpty:
                try step.fill(ChoiceCallback.self) { try $0.select(0) }
            default: break
            }
        }
        state = try await journeys.waitAndContinue(step)
    }
    guard case .loggedIn(let token) = state else { return nil }
    return token
    // snippet.hide
}
