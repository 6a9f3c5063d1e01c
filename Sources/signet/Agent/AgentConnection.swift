import AgentWire
import Foundation
import SignetCore

/// The client side of a running agent.
struct AgentConnection: Sendable {
    private let client: AgentClient
    private let home: AgentHome
    /// The connection that stays open; nil to use one for each request.
    private var link: KeptLink?

    /// Creates the client for the agent of this user; nil when no socket is known.
    ///
    /// It connects to nothing.
    init?(_ environment: [String: String]) {
        guard let path = AgentSocket.path({ environment[$0] }) else { return nil }
        client = AgentClient(path: path)
        home = AgentHome { environment[$0] }
    }

    /// Returns a client for a view, whose requests go over one connection for which the user is asked once.
    func forView() -> AgentConnection {
        var connection = self
        connection.link = KeptLink()
        return connection
    }

    /// Sends a request.
    /// - Parameters:
    ///   - operation: The name of the operation.
    ///   - arguments: The arguments of the operation, none of which is a secret.
    ///   - secret: The passphrase, for a request to unlock the vault.
    ///   - timeout: The time to wait for the reply, in seconds; a view waits as long as for an operation.
    /// - Returns: The reply; nil when no agent runs.
    /// - Throws: ``Failure`` when the connection ends before the reply.
    func reply(
        to operation: String, _ arguments: [[UInt8]] = [], secret: Secret? = nil,
        within timeout: Int = AgentClient.operationTimeout
    ) throws -> AgentReply? {
        let request = AgentRequest(
            version: AgentVersion.current, home: home, operation: operation, arguments: arguments,
            secret: secret.map { $0.withUnsafeBytes { AgentSecret(copying: $0) } })
        do throws(AgentClient.Failure) {
            guard let link else { return try client.reply(to: request, within: timeout) }
            return try link.reply(to: request, from: client)
        } catch {
            guard let failure = AgentFailure(error) else { return nil }
            throw Failure(agent: failure)
        }
    }

    /// Performs an operation and reads its result.
    /// - Parameters:
    ///   - method: The operation.
    ///   - arguments: The arguments of the operation.
    ///   - read: Reads the result.
    /// - Returns: The result.
    /// - Throws: ``Failure`` of the operation, and when the agent has been locked or has ended since the command began.
    func value<Value>(
        _ method: AgentMethod, _ arguments: [String], _ read: (JSONValue) throws -> Value
    ) throws -> Value {
        switch try reply(to: method.rawValue, arguments.map { Array($0.utf8) }) {
        case .result(let fields):
            do {
                return try read(try JSON.value(of: fields.first ?? []))
            } catch {
                throw Failure(.protocolBroken, "agent.unreadable", "the reply of the agent cannot be read")
            }
        case .failure(let failure): throw Failure(agent: failure)
        case .declined(.locked):
            throw Failure(.notAllowed, "agent.locked", "the agent was locked meanwhile; nothing was done, try again")
        case .declined(.busy):
            throw Failure(.busy, "agent.busy", "the agent serves too many commands; nothing was done, try again")
        case .declined, nil:
            throw Failure(.unavailable, "agent.gone", "the agent has ended meanwhile; nothing was done, try again")
        }
    }

    /// Performs an operation whose result is a list.
    /// - Parameters:
    ///   - method: The operation, which has no arguments.
    ///   - read: Reads an element of the list.
    /// - Returns: The list.
    /// - Throws: The failures of ``value(_:_:_:)``.
    func list<Element>(_ method: AgentMethod, _ read: (JSONValue) throws -> Element) throws -> [Element] {
        try value(method, []) { json in
            guard let elements = json.array else { throw AgentForm.Unreadable() }
            return try elements.map(read)
        }
    }
}

/// The connection of a view to the agent, which is opened with the first request, and again when it has ended.
private final class KeptLink: Sendable {
    private let link = Mutex<AgentLink?>(nil)

    /// Sends a request that uses up nothing, and so can be sent twice.
    /// - Parameters:
    ///   - request: The request.
    ///   - client: The client, which names the socket.
    /// - Returns: The reply.
    /// - Throws: `AgentClient.Failure`.
    func reply(to request: AgentRequest, from client: AgentClient) throws(AgentClient.Failure) -> AgentReply {
        try link.withLock { link throws(AgentClient.Failure) in
            if let kept = link {
                do throws(AgentClient.Failure) {
                    return try kept.reply(to: request)
                } catch {
                    link = nil
                    // The agent has started again, or has ended a connection that was not used for a while.
                    guard error == .noAgent || error == .interrupted else { throw error }
                }
            }
            let new = try AgentLink(client)
            let reply = try new.reply(to: request)
            link = new
            return reply
        }
    }
}

extension Failure {
    /// The failure of an operation that the agent reports.
    init(agent failure: AgentFailure) {
        self.init(Exit(rawValue: failure.exit) ?? .software, failure.code, failure.message, part: failure.part)
    }
}
