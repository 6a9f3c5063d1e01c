import AgentWire
import Foundation
import Glibc
import SignetCore
import SignetStorage

/// Ten thousand codes that sixteen clients get from the agent at once, each over a connection of its own, beside a socket whose
/// server sends the same bytes to each client.
///
/// Each reply is compared with the code of the account that was asked for: a lost or a wrong one is an error.
enum AgentLoadRow {
    private static let name = "10,000 codes of the agent for 16 clients, beside a bare socket"
    private static let clients = 16
    private static let rounds = 10
    /// The number of requests of a client in a round: all together make ten thousand, and a few more.
    private static let share = 63

    static func measure(signet: String) async throws -> Row {
        let accounts = SampleAccount.several(clients)
        let vault = try SampleVault(signet: signet, accounts: accounts)
        defer { vault.remove() }
        let agent = try await SampleAgent(vault, ["--no-push"])
        defer { agent.stop() }
        let bare = try BareServer(
            path: vault.directory + "/bare.sock", answer: AgentReply.result([Array("123456".utf8)]).message.bytes)
        defer { bare.stop() }
        let requests = accounts.map { agent.request("code", [$0.name]) }
        let ours = Contender.timed("signet agent") {
            let begin = try codes(accounts)
            let (time, replies) = try await round(at: agent.path, requests)
            try check(replies, begin, try codes(accounts))
            return time
        }
        let reference = Contender.timed("a bare socket") { try await round(at: bare.path, requests).time }
        return Row(
            name, try await Race(ours: ours, reference: reference, rounds: rounds, slice: .microseconds(1)).run(), .none)
    }

    /// Lets each client send its requests one after the other.
    ///
    /// At each time the clients ask for different accounts.
    /// - Returns: The time for one request, and the replies with the number of the account that was asked for.
    private static func round(
        at path: String, _ requests: [AgentRequest]
    ) async throws -> (time: Duration, replies: [(account: Int, code: String)]) {
        let begin = ContinuousClock.now
        let replies = try await withThrowingTaskGroup(of: [(account: Int, code: String)].self) { group in
            for client in 0..<clients {
                group.addTask(executorPreference: Blocking.executor) {
                    try (0..<share).map { number in
                        let account = (client + number) % requests.count
                        guard case .result(let fields) = try AgentClient(path: path).reply(to: requests[account]) else {
                            throw BenchError("the agent refused a request")
                        }
                        return (account, String(decoding: fields.first ?? [], as: UTF8.self))
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        return ((ContinuousClock.now - begin) / replies.count, replies)
    }

    /// Returns the current codes of the accounts.
    private static func codes(_ accounts: [SampleAccount]) throws -> [String] {
        let now = SystemWallClock().now
        return try accounts.map { TOTP.code(secret: Secret(try Base32.decode($0.secret)), at: now) }
    }

    /// Compares the replies with the codes before and after the round, which may be those of two periods.
    private static func check(
        _ replies: [(account: Int, code: String)], _ begin: [String], _ end: [String]
    ) throws {
        guard replies.count == clients * share,
            replies.allSatisfy({ $0.code == begin[$0.account] || $0.code == end[$0.account] })
        else { throw BenchError("a reply of the agent is lost, or is that to another request") }
    }
}

/// A socket whose server reads once from each connection, and sends the same bytes.
private final class BareServer: Sendable {
    let path: String
    private let listener: Int32

    init(path: String, answer: [UInt8]) throws {
        self.path = path
        guard let listener = AgentSocket.new(), AgentSocket.withAddress(path, { bind(listener, $0, $1) }) == 0,
            listen(listener, 64) == 0
        else { throw BenchError("no socket at \(path)") }
        self.listener = listener
        Thread.detachNewThread {
            var request = [UInt8](repeating: 0, count: 4096)
            while case let connection = accept(listener, nil, nil), connection >= 0 {
                if recv(connection, &request, request.count, 0) > 0 {
                    _ = answer.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                }
                close(connection)
            }
        }
    }

    /// Takes no more connections.
    func stop() { shutdown(listener, Int32(SHUT_RDWR)) }
}
