#if os(Linux)
import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

/// A client's address for logout tokens, on a port of this machine, that answers as a test specifies and records what it gets.
final class BackChannelReceiver: Sendable {
    struct Request: Sendable {
        let line: String
        let contentType: String?
        let fields: [String: String]

        var token: String { fields["logout_token"] ?? "" }
        /// The claims of the token, unverified.
        var claims: [String: JSONValue] { SignedToken(token)?.claims ?? [:] }
    }

    enum Answer: Sendable {
        case status(String)
        /// A status, and a body with a fault.
        case body(String, Body)
        /// No answer until the server gives up.
        case silence
    }

    /// A fault in the body of an answer.
    enum Body: String, Sendable, CaseIterable {
        /// The rest of the body does not arrive.
        case stalled
        /// The connection ends before the body does.
        case brokenOff
        /// The body has two megabytes.
        case large

        fileprivate func send(_ status: String, to connection: RawConnection) {
            guard self != .large else { return connection.answer(status, String(repeating: "a", count: 2 << 20)) }
            connection.send("HTTP/1.1 \(status)\r\nContent-Length: 10\r\n\r\na")
            if self == .stalled { connection.waitForEnd() }
        }
    }

    private final class Log: Sendable {
        let requests = Mutex<[Request]>([])
    }

    private let log: Log
    private let server: RawServer

    /// Starts the receiver.
    ///
    /// `answer` gets the number of earlier requests.
    init(_ answer: @escaping @Sendable (_ before: Int) -> Answer = { _ in .status("200 OK") }) throws {
        let log = Log()
        self.log = log
        server = try RawServer { connection in
            while let raw = connection.request() {
                let request = Request(
                    line: raw.line, contentType: raw.header("content-type"), fields: FormCoding.decode(raw.body))
                let before = log.requests.withLock { requests in
                    requests.append(request)
                    return requests.count - 1
                }
                switch answer(before) {
                case .status(let status): connection.answer(status, headers: ["Location: /elsewhere"])
                case .body(let status, let body):
                    body.send(status, to: connection)
                    return
                case .silence:
                    connection.waitForEnd()
                    return
                }
            }
        }
    }

    var url: String { "http://127.0.0.1:\(server.port)/logout?a=b" }
    var requests: [Request] { log.requests.withLock { $0 } }

    /// Waits until a number of requests has arrived.
    func wait(for count: Int) async throws -> [Request] {
        let isComplete = try await eventually { self.requests.count >= count }
        try #require(isComplete)
        return requests
    }
}

extension ServerConfiguration {
    /// The sample configuration whose clients of the top-level realm have these addresses for logout tokens, by ID.
    static func backChannel(
        _ receivers: [String: BackChannelReceiver], _ configure: (inout Self) -> Void = { _ in }
    ) -> ServerConfiguration {
        .sample {
            $0.setReceivers(receivers)
            configure(&$0)
        }
    }

    /// Sets the addresses for logout tokens of clients of the top-level realm, by ID.
    mutating func setReceivers(_ receivers: [String: BackChannelReceiver]) {
        for index in clients.indices where clients[index].realm == "/" {
            clients[index].backchannelLogoutURI = receivers[clients[index].id]?.url
        }
    }
}

extension TestServer {
    /// The logout tokens that clients have not accepted yet.
    func waitingLogouts() async throws -> [LogoutDelivery] {
        try await devServer.context.store.read { tx in try tx.logouts.all() }
    }

    /// Stores logout tokens for the client `app`, numbered from 0, that can be sent now, and wakes the worker.
    @discardableResult
    func storeLogouts(_ count: Int, claim: DispatchClaim? = nil) async throws -> [LogoutDelivery] {
        let context = devServer.context
        let now = context.time.now
        let deliveries = (0..<count).map { number in
            LogoutDelivery(
                id: "\(number)", client: ClientKey(realm: .root, id: "app"), user: UserKey(realm: .root, name: "mira"),
                session: TokenHash("\(number)"), deadline: now.addingTimeInterval(LogoutDelivery.lifetime), nextAttempt: now,
                claim: claim)
        }
        try await context.store.write { tx in
            for delivery in deliveries { tx.logouts.store(delivery) }
        }
        context.logoutSignals.wake()
        return deliveries
    }

    /// Waits until no logout token waits.
    func finishedLogouts() async throws {
        let isFinished = try await eventually { try await waitingLogouts().isEmpty }
        try #require(isFinished)
    }

    /// Waits until each waiting logout token has failed this often, and returns them.
    func failedLogouts(_ count: Int) async throws -> [LogoutDelivery] {
        let haveFailed = try await eventually {
            let waiting = try await waitingLogouts()
            return !waiting.isEmpty && waiting.allSatisfy { $0.failures == count && $0.claim == nil }
        }
        try #require(haveFailed)
        return try await waitingLogouts()
    }

    /// Ends a session as an app with the session's token does.
    func logOut(_ session: String) async throws {
        let reply = try await sessionAction("logout", ["iPlanetDirectoryPro": session])
        try #require(reply.status == 200)
    }

    /// Lets a client get tokens in a session.
    func logIn(_ client: String, _ session: String, _ changes: [String: String?] = [:]) async throws -> Tokens {
        try Tokens(try await exchange(try await code(session, client: client, changes), client: client))
    }
}
#endif
