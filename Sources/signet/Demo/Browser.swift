import SignetCore
import SignetJourney

/// The user's browser in the demo: runs the server's journeys and reads what a login page would show.
struct Browser {
    let journey: Journey
    let user: String
    let password: String

    /// Starts a journey and fills in user name and password.
    func begin(_ name: String) async throws -> JourneyState {
        let step = try Self.step(try await journey.start(name))
        return try await journey.next(filled(step))
    }

    /// Sends waiting steps back until the journey continues, as a login page does.
    func wait(from state: JourneyState) async throws -> JourneyState {
        var state = state
        while case .step(let step) = state, let milliseconds = step.waitMilliseconds {
            try await Task.sleep(for: .milliseconds(milliseconds))
            state = try await journey.next(step)
        }
        return state
    }

    /// Sends each step back unchanged until the login succeeds.
    ///
    /// Use it for the rest of a journey whose steps only show something.
    func confirm(from state: JourneyState) async throws {
        var state = state
        while case .step(let step) = state { state = try await journey.next(step) }
        guard case .loggedIn = state else { throw DemoFailure("the login page did not complete the login") }
    }

    /// Enters a one-time code in each step until the login succeeds or fails.
    ///
    /// Steps that only show something are sent back.
    func enter(code: String, into state: JourneyState) async throws -> JourneyState {
        var state = state
        while case .step(var step) = state {
            for index in step.callbacks.indices { step.callbacks[index].answer(.string(code)) }
            state = try await journey.next(step)
        }
        return state
    }

    /// Enters a code and checks that the server accepts it.
    func logIn(code: String, into state: JourneyState) async throws {
        guard case .loggedIn = try await enter(code: code, into: state) else {
            throw DemoFailure("the server did not accept \(code)")
        }
    }

    static func step(_ state: JourneyState) throws -> JourneyStep {
        guard case .step(let step) = state else { throw DemoFailure("the server ended the journey early") }
        return step
    }

    private func filled(_ step: JourneyStep) -> JourneyStep {
        var step = step
        for index in step.callbacks.indices {
            switch step.callbacks[index].type {
            case "NameCallback": step.callbacks[index].answer(.string(user))
            case "PasswordCallback": step.callbacks[index].answer(.string(password))
            default: break
            }
        }
        return step
    }
}

/// The error for a demo step with an unexpected result.
struct DemoFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
