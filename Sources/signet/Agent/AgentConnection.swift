import AgentWire
import Foundation
import SignetCore

/// The client side of a running agent.
struct AgentConnection: Sendable {
    private let client: AgentClient
    private let home: AgentHome

    /// Creates the client for the agent of this user; nil when no socket is known. It connects to nothing.
    init?(_ environment: [String: String]) {
        guard let path = AgentSocket.path({ environment[$0] }) else { return nil }
        client = AgentClient(path: path)
        home = AgentHome { environment[$0] }
    }

    /// Sends a request.
    /// - Returns: The reply; nil when no agent runs.
    /// - Throws: ``Failure`` when the connection ends before the reply.
    func reply(
        to operation: String, _ arguments: [[UInt8]], within timeout: Int = AgentClient.operationTimeout
    ) throws -> AgentReply? {
        let request = AgentRequest(
            version: AgentVersion.current, home: home, operation: operation, arguments: arguments)
        do throws(AgentClient.Failure) {
            return try client.reply(to: request, within: timeout)
        } catch {
            guard let failure = AgentFailure(error) else { return nil }
            throw Failure(agent: failure)
        }
    }

    /// Performs an operation and reads its result.
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
        case .declined(.busy): throw Failure(.busy, "agent.busy", "the agent serves too many commands; nothing was done, try again")
        case .declined, nil:
            throw Failure(.unavailable, "agent.gone", "the agent has ended meanwhile; nothing was done, try again")
        }
    }

    /// Performs an operation whose result is a list.
    func list<Element>(_ method: AgentMethod, _ read: (JSONValue) throws -> Element) throws -> [Element] {
        try value(method, []) { json in
            guard let elements = json.array else { throw AgentForm.Unreadable() }
            return try elements.map(read)
        }
    }
}

extension Failure {
    /// The failure of an operation that the agent reports.
    init(agent failure: AgentFailure) {
        self.init(Exit(rawValue: failure.exit) ?? .software, failure.code, failure.message, part: failure.part)
    }
}
