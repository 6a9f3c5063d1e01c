import Foundation
import SignetCore
import SignetJourney
import SignetOAuth

// A login at an AM, at a terminal: the journey asks its questions, and the claims of the user are printed.
//
//     TerminalLogin SERVER CLIENT-ID [JOURNEY]
//
// SERVER is the address up to the deployment path, such as https://am.example.com/am. The client is a public one with the redirect
// URI http://127.0.0.1/callback. The session and the tokens are stored in the user's vault, so a second start asks no questions.

@main
struct App {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 3 || arguments.count == 4 else {
            Terminal.write("usage: TerminalLogin SERVER CLIENT-ID [JOURNEY]")
            exit(64)
        }
        do {
            print(try await logIn(server: arguments[1], clientID: arguments[2], journey: arguments.dropFirst(3).first))
        } catch {
            Terminal.write("TerminalLogin: \(error)")
            exit(1)
        }
    }

    /// Logs in, unless a session is stored, and returns the claims of the user as JSON.
    private static func logIn(server: String, clientID: String, journey: String?) async throws -> String {
        let profile = try ServerProfile(url: server) {
            $0.client = OAuthClient(
                clientID: clientID, redirectURI: "http://127.0.0.1/callback", scopes: ["openid", "profile"])
        }
        let app = try IdentityClient(profile, account: "com.example.terminal-login")
        var terminal = Terminal()
        // The stored session, if there is one, ends the journey at once.
        var state = try await app.journeys.start(journey)
        while case .step(var step) = state {
            terminal.show(step)
            if let message = step.suspensionMessage { throw TerminalError(reason: "continue with the email. \(message)") }
            // A step that waits, for example for the answer to a push message, is sent again as it is.
            if step.waitMilliseconds == nil { try terminal.fill(&step) }
            state = try await app.journeys.waitAndContinue(step)
        }
        // The server issues the tokens for the session, without another question.
        let user = try await app.userInfo()
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return String(decoding: try encoder.encode(user.claims), as: UTF8.self)
    }
}
