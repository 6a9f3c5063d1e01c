import Foundation
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetServer
import SignetStorage
import SignetTesting
import TestSupport

@testable import FRAuthenticator

/// A development server on a port of this machine.
final class RealServer: CaseServer {
    let account: AccountID
    let clock = ManualClock(Date(timeIntervalSince1970: SystemWallClock().now.timeIntervalSince1970.rounded(.down)))
    private let server: TestServer.Live
    private let user: TestUser
    private let shown = Mutex(0)
    private let received = Mutex<Set<String>>([])

    /// Starts an enrollment at a server.
    init(_ server: TestServer.Live) async throws {
        self.server = server
        user = try server.user()
        account = try EnrollmentURI.parse(try await user.enrollmentURI("PushRegistration")).account
    }

    /// Runs `body` with a server at which `demo` can log in.
    static func with(_ body: (RealServer) async throws -> Void) async throws {
        let configuration = ServerConfiguration {
            $0.users = [User(name: "demo", password: Secret("password".utf8))]
            $0.pollInterval = .milliseconds(20)
        }
        try await TestServer.live(configuration) { server in try await body(RealServer(server)) }
    }

    var transport: any HTTPTransport { server.transport }
    var number: Int { shown.withLock { $0 } }

    func uri(_ offer: Offer) async throws -> String {
        switch offer {
        case .push: try await user.enrollmentURI("PushRegistration")
        case .combined: try await user.enrollmentURI("CombinedRegistration")
        default: localURI(offer) ?? ""
        }
    }

    func message(_ kind: PushKind, to mechanism: SignetCore.Mechanism) async throws -> PushDelivery {
        let journey =
            switch kind {
            case .tap: "PushLogin"
            case .number: "PushNumberLogin"
            case .biometric: "PushBiometricLogin"
            }
        let waiting = try await user.begin(journey)
        shown.withLock { $0 = waiting.hiddenValue("pushChallengeNumber").flatMap { Int($0) } ?? 0 }
        // Another device of the same user listens, and passes on the message unopened.
        let platform = RecordingPlatform()
        let records = AccountRecords(unsealed: MemoryStore())
        try records.write { (records: any AccountWriter) throws(StoreError) in try records.save(mechanism) }
        let listener = Authenticator(
            store: records, transport: server.transport, device: PushDevice(token: "", name: "recording"), platforms: [platform])
        let known = received.withLock { $0 }
        struct StopListening: Error {}
        do {
            try await PushStreamListener(listener, mechanismUID: mechanism.uid).run { event in
                if case .received(let notification) = event, !known.contains(notification.messageID) { throw StopListening() }
            }
        } catch is StopListening {}
        guard let delivery = platform.last else { throw Unexpected() }
        received.withLock { _ = $0.insert(delivery.messageId) }
        return delivery
    }
}

/// A push platform that records each delivery and claims none.
final class RecordingPlatform: PushPlatform {
    let name = "recording"
    private let received = Mutex<PushDelivery?>(nil)
    var last: PushDelivery? { received.withLock { $0 } }

    func claimedMechanismUID(of delivery: PushDelivery) throws -> String? {
        received.withLock { $0 = delivery }
        return nil
    }
    func register(
        _ invitation: PushInvitation, mechanismUID: String, device: PushDevice, over transport: PushTransport
    ) async throws -> Endpoint? { nil }
    func open(_ delivery: PushDelivery, for mechanism: SignetCore.Mechanism) throws -> PushMessage { throw Unexpected() }
    func send(
        _ answer: PushAnswer, to notification: SignetCore.PushNotification, of mechanism: SignetCore.Mechanism,
        over transport: PushTransport
    ) async throws {}
    func update(_ device: PushDevice, of mechanism: SignetCore.Mechanism, over transport: PushTransport) async throws {}
}
