package import Foundation
package import PingPush
package import SignetAuthenticator
package import SignetCore
package import SignetNetwork
package import SignetStorage
package import SignetTesting

/// A kind of storage in which a client keeps its accounts in a test.
package enum ClientStorageKind: String, CaseIterable, Sendable {
    case memory, sqlite, vault, ownStorage, ownDelegate, memoryStorage

    /// The storages that a second client can read.
    package static let persistent: [ClientStorageKind] = [.memory, .sqlite, .vault, .ownStorage, .ownDelegate]

    /// Runs `body` with a function that sets this storage in a configuration and can be called any number of times.
    package func with(_ body: (@escaping @Sendable (ClientConfiguration) -> Void) async throws -> Void) async throws {
        try await TemporaryDirectory.with { directory in
            switch self {
            case .memory:
                let records = AccountRecords(unsealed: MemoryStore())
                try await body { $0.storage = records }
            case .sqlite:
                let records = AccountRecords(unsealed: try SQLiteStore(path: directory.file("store"), creating: true))
                try await body {
                    $0.storage = records
                    $0.encryptionEnabled = false
                }
            case .vault:
                let records = AccountRecords(try VaultDirectory(path: directory.file("vault")).createVault(.keyFile))
                try await body { $0.storage = records }
            case .ownStorage:
                let itemFile = ItemFile()
                try await body { $0.storage = AppStorage(itemFile) }
            case .ownDelegate:
                let itemFile = ItemFile()
                try await body { $0.storage = AppStorageDelegate(itemFile) }
            case .memoryStorage: try await body { $0.storage = MemoryStorage() }
            }
        }
    }
}

/// The content of an app's storage as bytes, as a file would hold it.
package final class ItemFile: Sendable {
    package struct Refused: Error {}

    private let state = Mutex<(bytes: Data?, gets: Int, saves: Int, isBroken: Bool)>((nil, 0, 0, false))
    package init() {}

    /// A gate that holds calls while it is closed.
    package let gate = Gate()
    /// A gate that holds a call between reading the item and returning it while it is closed.
    package let answering = Gate()

    package var gets: Int { state.withLock { $0.gets } }
    package var saves: Int { state.withLock { $0.saves } }
    package var bytes: Data? { state.withLock { $0.bytes } }

    package func overwrite(_ bytes: Data?) { state.withLock { $0.bytes = bytes } }
    package func setBroken(_ isBroken: Bool) { state.withLock { $0.isBroken = isBroken } }

    package func get() throws -> Data? {
        try state.withLock { state in
            state.gets += 1
            if state.isBroken { throw Refused() }
            return state.bytes
        }
    }

    package func save(_ bytes: Data) throws {
        try state.withLock { state in
            state.saves += 1
            if state.isBroken { throw Refused() }
            state.bytes = bytes
        }
    }
}

/// A gate that lets every caller through until it is closed.
package final class Gate: Sendable {
    private let state = Mutex<(isClosed: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))

    package init() {}

    /// The number of waiting callers.
    package var waiting: Int { state.withLock { $0.waiting.count } }

    package func close() { state.withLock { $0.isClosed = true } }

    /// Waits until a caller waits and lets that caller through; the gate stays closed.
    package func releaseOne() async {
        while waiting == 0 { await Task.yield() }
        state.withLock { $0.waiting.removeFirst() }.resume()
    }

    /// Lets new callers through; callers that already wait continue to wait.
    package func admitNewCallers() { state.withLock { $0.isClosed = false } }

    package func open() {
        let waiting = state.withLock { state in
            defer { state = (false, []) }
            return state.waiting
        }
        for one in waiting { one.resume() }
    }

    package func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if state.isClosed { state.waiting.append(continuation) }
                return !state.isClosed
            }
            if isOpen { continuation.resume() }
        }
    }
}

/// A storage as an app writes it: a plain class with state that is not Sendable.
package class AppStorage<T: Codable>: Storage {
    private let itemFile: ItemFile
    private var calls = 0

    package init(_ itemFile: ItemFile) {
        self.itemFile = itemFile
    }

    package func save(item: T) async throws {
        calls += 1
        await itemFile.gate.pass()
        try itemFile.save(JSONEncoder().encode(item))
    }

    package func get() async throws -> T? {
        calls += 1
        await itemFile.gate.pass()
        let bytes = try itemFile.get()
        await itemFile.answering.pass()
        return try bytes.map { try JSONDecoder().decode(T.self, from: $0) }
    }

    package func delete() async throws { itemFile.overwrite(nil) }
}

package class AppStorageDelegate<T: Codable>: StorageDelegate<T> {
    package init(_ itemFile: ItemFile) {
        super.init(delegate: AppStorage<T>(itemFile), cacheable: true)
    }
}

/// A logger that keeps the lines of a client.
package final class RecordingLogger: ClientLogger {
    private let kept = Mutex<[(ClientLogLevel, String)]>([])

    package init() {}

    package var lines: [(level: ClientLogLevel, text: String)] { kept.withLock { $0.map { ($0.0, $0.1) } } }
    package func log(_ level: ClientLogLevel, _ line: String) { kept.withLock { $0.append((level, line)) } }
}

/// A policy that is met until a test breaks it.
package struct BreakablePolicy: AccountPolicy {
    package let name: String
    private let isBroken: Toggle

    package init(name: String, isBroken: Toggle) {
        (self.name, self.isBroken) = (name, isBroken)
    }

    package func isMet(_ parameters: JSONValue) async -> Bool { !isBroken.isOn }
}

/// A push client over a scripted server, with a manual clock.
package struct PushClientFixture {
    package let client: PushClient
    package let transport: ScriptedTransport
    package let clock = ManualClock(Sample.start)

    package init(
        _ configure: (PushConfiguration) -> Void = { _ in },
        answer: @escaping @Sendable (HTTPRequest) async throws(TransportError) -> HTTPResponse = { _ in
            HTTPResponse(status: 200, body: Array("{}".utf8))
        }
    ) async throws {
        transport = ScriptedTransport(answer)
        let (transport, clock) = (transport, clock)
        client = try await PushClient.createClient { config in
            config.transport = transport
            config.clock = clock
            config.device.name = "Mira's laptop"
            // Without it, the client opens the vault in the home directory.
            config.storage = AccountRecords(unsealed: MemoryStore())
            configure(config)
        }
    }

    package func enroll(_ uri: String = Sample.push) async throws -> PushCredential {
        try await client.setDeviceToken("token-1")
        return try await client.addCredentialFromUri(uri)
    }

    /// Returns a message of the sample account's server.
    package static func message(
        to id: String, messageId: String = "AUTHENTICATE:1", kind: PushKind = .tap, sentAt: Date = Sample.start,
        userID: String? = nil, secret: Secret? = nil
    ) throws -> [String: Any] {
        let message = PushMessage(
            mechanismUID: id, challenge: Array("challenge".utf8), kind: kind, timeToLive: 120, sentAt: sentAt,
            text: "Login at Harbor Bank", loadBalancerCookie: "amlbcookie=02", userID: userID)
        let key = try secret ?? Secret(Base64.decode(Sample.secret))
        return ["messageId": messageId, "message": message.sealed(with: key)]
    }
}

extension Authenticator {
    /// Creates an authenticator that reads a store that a client has used.
    package init(store: any AccountStore) {
        self.init(
            store: store, transport: ScriptedTransport { _ in HTTPResponse(status: 200) }, device: PushDevice(token: "", name: "")
        )
    }
}
