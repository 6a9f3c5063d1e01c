import FRAuthenticator
import Foundation
import Logging
import SignetCore
import SignetNetwork
import SignetTesting

/// A client over a scripted server, with a clock that stands still.
struct ClientFixture {
    let client: FRAClient
    let transport: ScriptedTransport
    let clock: ManualClock

    /// Creates a client over a storage of the app.
    init(
        _ storage: sending any StorageClient, clock: ManualClock = ManualClock(Sample.start),
        presence: (any FRAUserPresence)? = nil, platform: LegacySettings.Platform = .iOS,
        answer: @escaping @Sendable (HTTPRequest) async throws(TransportError) -> HTTPResponse = ClientFixture.accept
    ) throws {
        transport = ScriptedTransport(answer)
        self.clock = clock
        var builder = FRAClientBuilder(Self.settings(transport, clock, platform)).withStorage(storage)
        if let presence { builder = builder.withUserPresence(presence) }
        client = try builder.start()
    }

    static func settings(
        _ transport: any HTTPTransport, _ clock: ManualClock, _ platform: LegacySettings.Platform = .iOS
    ) -> LegacySettings {
        var settings = LegacySettings(platform: platform, transport: transport, clock: clock)
        settings.logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        return settings
    }

    /// Returns the response of an AM server that accepts a request.
    static let accept: @Sendable (HTTPRequest) async throws(TransportError) -> HTTPResponse = { _ in
        HTTPResponse(status: 200, body: Array("{}".utf8))
    }

    /// Enrolls the sample account with codes and push.
    @discardableResult func enrollBoth() async throws -> (account: Account, totp: TOTPMechanism, push: PushMechanism) {
        if (try? client.registerForRemoteNotifications("token-1")) == nil { throw Unexpected() }
        _ = try await client.createMechanismFromUri(Sample.combined)
        return try enrolled()
    }

    func enrolled() throws -> (account: Account, totp: TOTPMechanism, push: PushMechanism) {
        guard let account = client.getAccount(identifier: Sample.identifier),
            let totp = account.mechanisms.compactMap({ $0 as? TOTPMechanism }).first,
            let push = account.mechanisms.compactMap({ $0 as? PushMechanism }).first
        else { throw Unexpected() }
        return (account, totp, push)
    }

    func receive(_ id: String = "AUTHENTICATE:1", kind: PushKind = .tap, userID: String? = nil) throws -> PushNotification {
        let uid = try enrolled().push.mechanismUUID
        return try client.handleMessage(
            ["messageId": id, "message": try Sample.message(to: uid, kind: kind, sentAt: clock.now, userID: userID)])
    }
}

/// The error for a value that a test needs and does not find.
struct Unexpected: Error {}

/// A counter for several threads.
final class Tally: Sendable {
    private let count = Mutex(0)
    var value: Int { count.withLock { $0 } }
    func add() { count.withLock { $0 += 1 } }
}

/// A user presence check that recognizes every user by default, and records its prompts.
final class Sensor: FRAUserPresence {
    private let state = Mutex<(recognizes: Bool, prompts: [String])>((true, []))
    var prompts: [String] { state.withLock { $0.prompts } }

    init(recognizes: Bool = true) {
        state.withLock { $0.recognizes = recognizes }
    }

    func confirm(title: String, allowDeviceCredentials: Bool, notification: PushNotification) async throws {
        let recognized = state.withLock { state in
            state.prompts.append(title)
            return state.recognizes
        }
        if !recognized { throw Unexpected() }
    }
}
