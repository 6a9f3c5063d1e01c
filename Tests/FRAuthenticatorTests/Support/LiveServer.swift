import Foundation
import Logging
import SignetAuthenticator
import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth
import SignetServer

@testable import FRAuthenticator

/// A development server on a free port, and a client that runs its journeys as user `demo`.
struct LiveServer {
    let transport: AsyncHTTPTransport
    private let journey: Journey

    static func with(_ body: (LiveServer) async throws -> Void) async throws {
        let server = DevServer(
            configuration: ServerConfiguration {
                $0.port = 0
                $0.users = [User(name: "demo", password: Secret("password".utf8))]
                $0.pollInterval = .milliseconds(20)
            }, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        try await server.serve { url in
            try await AsyncHTTPTransport().use { transport in
                let journey = Journey(try ServerProfile(url: url), transport: transport)
                try await body(LiveServer(transport: transport, journey: journey))
            }
        }
    }

    /// Starts a journey with name and password, and returns the next step.
    private func start(_ name: String) async throws -> JourneyStep {
        guard case .step(var step) = try await journey.start(name) else { throw Unexpected() }
        for index in step.callbacks.indices {
            step.callbacks[index].answer(.string(step.callbacks[index].type == "NameCallback" ? "demo" : "password"))
        }
        guard case .step(let next) = try await journey.next(step) else { throw Unexpected() }
        return next
    }

    /// Passes the URI of a registration journey to `scan`.
    func enroll<R>(_ name: String, _ scan: (String) async throws -> R) async throws -> R {
        guard let uri = try await start(name).hiddenValue("mfaDeviceRegistration") else { throw Unexpected() }
        return try await scan(uri)
    }

    /// Starts a login that waits for the device, and returns its step and the number that its page shows.
    func begin(_ name: String) async throws -> (step: JourneyStep, number: String?) {
        let step = try await start(name)
        return (step, step.hiddenValue("pushChallengeNumber"))
    }

    /// Waits until a login ends, and returns nil on success, otherwise the error code.
    func finish(_ waiting: JourneyStep) async throws -> JourneyError.Code? {
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

    /// Listens for push messages until `isTheOne` accepts one.
    func listen(
        for mechanism: SignetCore.Mechanism, _ authenticator: Authenticator,
        until isTheOne: @Sendable (SignetCore.PushNotification) -> Bool = { _ in true }
    ) async throws {
        struct Enough: Error {}
        do {
            try await PushStreamListener(authenticator, mechanismUID: mechanism.uid).run { event in
                if case .received(let notification) = event, isTheOne(notification) { throw Enough() }
            }
        } catch is Enough {}
    }
}
