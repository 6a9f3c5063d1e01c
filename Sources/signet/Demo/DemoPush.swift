import SignetCore
import SignetJourney

/// Five push logins with different outcomes.
struct DemoPush {
    let environment: DemoEnvironment
    let browser: Browser
    let administration: DemoAdministration

    func approveByTap() async throws -> String {
        let login = try await browser.begin("PushLogin")
        let message = try await nextMessage()
        _ = try await environment.signet("push", "approve", message)
        return try await success(of: login)
    }

    func approveByNumber() async throws -> String {
        let login = try await browser.begin("PushNumberLogin")
        guard let shown = try Browser.step(login).hiddenValue("pushChallengeNumber"), let right = Int(shown) else {
            throw DemoFailure("the login page shows no number")
        }
        Console.line("      the login page shows the number \(right)")
        let message = try await nextMessage()
        let wrong = try await wrongNumber(message, right)
        let refused = try await environment.attempt(["push", "approve", message, "--number", String(wrong)])
        guard refused.status == Failure.Exit.notAllowed.rawValue else {
            throw DemoFailure("the wrong number \(wrong) was not refused (exit code \(refused.status))")
        }
        _ = try await environment.signet("push", "approve", message, "--number", String(right))
        return "\(wrong) refused, \(right): " + (try await success(of: login))
    }

    func approveByBiometrics() async throws -> String {
        let login = try await browser.begin("PushBiometricLogin")
        let message = try await nextMessage()
        let unseen = try await environment.attempt(["push", "approve", message])
        guard unseen.status == Failure.Exit.notAllowed.rawValue else {
            throw DemoFailure("it was approved without asking the user")
        }
        _ = try await environment.signet("push", "approve", message, "--simulate-biometric")
        return try await success(of: login) + " (with a simulated sensor)"
    }

    func deny() async throws -> String {
        let login = try await browser.begin("PushLogin")
        let message = try await nextMessage()
        _ = try await environment.signet("push", "deny", message)
        return "refused: " + (try await refusal { try await browser.wait(from: login) })
    }

    func letExpire() async throws -> String {
        let login = try await browser.begin("PushLogin")
        let message = try await nextMessage()
        Console.line("      no answer; the server's clock is moved \(DemoEnvironment.pushTimeout) s forward")
        try await administration.advanceClock(bySeconds: DemoEnvironment.pushTimeout)
        let outcome = try await refusal { try await browser.wait(from: login) }
        let late = try await environment.attempt(["push", "approve", message])
        guard late.status == Failure.Exit.notAllowed.rawValue else { throw DemoFailure("a late answer was not refused") }
        try await administration.resetClock()
        return "login page: \(outcome); the server refuses the late answer"
    }

    /// Waits on the push stream for one message, as `signet push listen` does.
    ///
    /// Returns its ID.
    private func nextMessage() async throws -> String {
        let line = try await environment.signet(
            "push", "listen", "--once", "--timeout", String(DemoEnvironment.pushTimeout), "--json")
        guard let id = try? JSON.value(of: line.utf8)["id"]?.string else {
            throw DemoFailure("no message came")
        }
        return id
    }

    private func wrongNumber(_ message: String, _ right: Int) async throws -> Int {
        let lines = try await environment.signet("push", "list", "--json").split(separator: "\n")
        let messages = lines.compactMap { try? JSON.value(of: $0.utf8) }
        let numbers = messages.first { $0["id"]?.string == message }?["numbers"]?.array?.compactMap(\.lenientInteger) ?? []
        guard let wrong = numbers.first(where: { $0 != right }) else { throw DemoFailure("the message offers no other number") }
        return Int(wrong)
    }

    private func success(of login: JourneyState) async throws -> String {
        guard case .loggedIn = try await browser.wait(from: login) else {
            throw DemoFailure("the login page did not complete the login")
        }
        return "logged in"
    }
}
