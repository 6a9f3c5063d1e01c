#if os(Linux)
import SignetCore
import SignetTesting
import TestSupport

@testable import SignetDesktop

/// A program on the bus that a test plays: it owns a name, records the calls of its methods and answers them.
final class ScriptedService: Sendable {
    struct NameTaken: Error {}

    let connection: DBusConnection
    private let calls = Mutex<[DBusMessage]>([])

    private init(_ connection: DBusConnection) { self.connection = connection }

    /// Starts a service.
    /// - Parameters:
    ///   - bus: The bus.
    ///   - name: The name that the service owns.
    ///   - answer: Returns the answer to a call; nil for none.
    /// - Returns: The service.
    /// - Throws: ``DBusError``, ``NameTaken``.
    static func start(
        _ bus: MessageBus, _ name: String, _ answer: @escaping @Sendable (DBusMessage) -> DBusMessage?
    ) async throws -> ScriptedService {
        let service = ScriptedService(try await DBusConnection.open(bus.address, timeout: .seconds(60)))
        let calls = service.connection.methodCalls()
        Task {
            for await call in calls {
                service.calls.withLock { $0.append(call) }
                if let reply = answer(call), !call.expectsNoReply { try? service.connection.send(reply) }
            }
        }
        guard try await service.connection.requestName(name) else { throw NameTaken() }
        return service
    }

    /// The calls of a method so far.
    func calls(of member: String) -> [DBusMessage] {
        calls.withLock { calls in calls.filter { $0.member == member } }
    }

    /// Ends the service, which gives up its name.
    func stop() { connection.close() }
}

extension DBusMessage {
    /// The error for a method that a scripted service does not have.
    var unknownMethod: DBusMessage { failure("org.freedesktop.DBus.Error.UnknownMethod", "there is no \(member ?? "")") }
}

/// Returns the code of the ``DBusError`` that a closure throws; nil when it throws none.
func failureCode(_ body: () async throws -> Void) async -> DBusError.Code? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? DBusError)?.code
    }
}

/// Returns the next element of a stream; nil when it ends, or when none comes in time.
func next<Element: Sendable>(of stream: AsyncStream<Element>) async -> Element? {
    let found = await withTimeout(TestTimeout.default) { () -> Element? in
        for await element in stream { return element }
        return nil
    }
    return found ?? nil
}

/// Time that a test moves.
final class ManualTime: Sendable {
    private let instant = Mutex(ContinuousClock.now)

    var now: ContinuousClock.Instant { instant.withLock { $0 } }

    func advance(by duration: Duration) { instant.withLock { $0 = $0.advanced(by: duration) } }
}
#endif
