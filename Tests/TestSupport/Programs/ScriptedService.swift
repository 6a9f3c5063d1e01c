#if os(Linux)
import SignetCore
package import SignetDesktop

/// A program on the bus that a test plays: it owns a name, records the calls of its methods and answers them.
package final class ScriptedService: Sendable {
    /// Another program owns the name.
    package struct NameTaken: Error {}

    /// The connection of the service.
    package let connection: DBusConnection
    private let calls = Mutex<[DBusMessage]>([])

    private init(_ connection: DBusConnection) { self.connection = connection }

    /// Starts a service.
    /// - Parameters:
    ///   - bus: The bus.
    ///   - name: The name that the service owns.
    ///   - answer: Returns the answer to a call; nil for none.
    /// - Returns: The service.
    /// - Throws: ``DBusError``, ``NameTaken``.
    package static func start(
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
    package func calls(of member: String) -> [DBusMessage] {
        calls.withLock { calls in calls.filter { $0.member == member } }
    }

    /// Ends the service, which gives up its name.
    package func stop() { connection.close() }
}

extension DBusMessage {
    /// The error for a method that a scripted service does not have.
    package var unknownMethod: DBusMessage { failure("org.freedesktop.DBus.Error.UnknownMethod", "there is no \(member ?? "")") }
}
#endif
