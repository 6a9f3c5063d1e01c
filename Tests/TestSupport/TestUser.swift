package import SignetCore
package import SignetJourney

/// A user at the login page of a server: runs journeys with a name and a password.
package struct TestUser: Sendable {
    /// The journeys of the server.
    package let journey: Journey
    /// The name of the user.
    package let name: String
    /// The password of the user.
    package let password: String

    /// An error that reports that a journey took another course than expected.
    package struct UnexpectedState: Error {
        package init() {}
    }

    /// Creates a user.
    package init(journey: Journey, name: String, password: String) {
        (self.journey, self.name, self.password) = (journey, name, password)
    }

    /// Starts a journey, enters name and password, and returns the next step.
    /// - Throws: `JourneyError` when the server refuses them, ``UnexpectedState`` when the journey ends instead.
    package func begin(_ name: String) async throws -> JourneyStep {
        guard case .step(var step) = try await journey.start(name) else { throw UnexpectedState() }
        for index in step.callbacks.indices {
            step.callbacks[index].answer(.string(step.callbacks[index].type == "NameCallback" ? self.name : password))
        }
        guard case .step(let next) = try await journey.next(step) else { throw UnexpectedState() }
        return next
    }

    /// Starts a registration journey and returns the URI that it shows to a device.
    /// - Throws: As ``begin(_:)``, and ``UnexpectedState`` when the step shows no URI.
    package func enrollmentURI(_ name: String) async throws -> String {
        guard let uri = try await begin(name).hiddenValue("mfaDeviceRegistration") else { throw UnexpectedState() }
        return uri
    }

    /// Sends a waiting step again until the journey ends, as a login page does.
    /// - Returns: nil when the user is logged in, otherwise the code of the error.
    /// - Throws: An error that isn't one of the journey.
    package func finish(_ waiting: JourneyStep) async throws -> JourneyError.Code? {
        var step = waiting
        do {
            while true {
                try await Task.sleep(for: .milliseconds(step.waitMilliseconds ?? 0))
                guard case .step(let next) = try await journey.next(step) else { return nil }
                step = next
            }
        } catch let error as JourneyError {
            return error.code
        }
    }
}
