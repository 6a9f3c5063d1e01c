import AsyncHTTPClient
import Foundation
import NIOCore
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage

/// A thousand push messages, received as they come and approved one after another over loopback, beside as many bare POSTs of the
/// same bytes.
///
/// Each is in the end stored as approved, and the server was asked once for each.
enum RushRows {
    private static let messages = 1_000

    static func measure() async throws -> [Row] {
        let directory = FileManager.default.temporaryDirectory.path + "/signet-bench-rush-\(getpid())"
        defer {
            // What is left lies where the system clears up.
            try? FileManager.default.removeItem(atPath: directory)
        }
        let memory = try await row("in memory", AccountRecords(unsealed: MemoryStore()), Limit.atLeast(0.6))
        let vault = try VaultDirectory(path: directory).createVault(.keyFile)
        let disk = try await row("in a vault, two durable writes each", AccountRecords(vault), Limit.none)
        return [memory, disk]
    }

    private static func row(_ kind: String, _ store: AccountRecords, _ limit: Limit) async throws -> Row {
        let server = try LoopbackServer()
        defer { server.stop() }
        let outcome = try await RaceClients.with { transport, client in
            try await race(Rush(store, server, transport), client)
        }
        return Row("\(messages) pushes received and approved \(kind), beside bare POSTs", outcome, limit)
    }

    /// All the messages, in turns with as many POSTs, several times.
    private static func race(_ rush: Rush, _ client: HTTPClient) async throws -> Race.Outcome {
        let post = HTTPClientRequest(try await rush.recordedRequest())
        let (rounds, share) = (7, messages)
        var sides = (ours: Race.Side("receive and approve"), reference: Race.Side("HTTPClient.execute"))
        for _ in 0..<rounds {
            let deliveries = rush.deliveries(share)
            sides.ours.add(try await ContinuousClock().measure { try await rush.answer(deliveries) } / .microseconds(share))
            let bare = try await ContinuousClock().measure {
                for _ in 0..<share { _ = try await client.execute(post, timeout: .seconds(30)).body.collect(upTo: 1 << 20) }
            }
            sides.reference.add(bare / .microseconds(share))
        }
        try await rush.check(posts: share * rounds)
        return Race.Outcome(sides.ours, sides.reference)
    }
}

/// The messages of one account.
private final class Rush {
    private let store: AccountRecords
    private let server: LoopbackServer
    private let transport: RecordingTransport
    private let authenticator: Authenticator
    private let secret = Secret([UInt8](repeating: 7, count: 32))
    private let uid = "PUSH-0"
    private var number = 0

    init(_ store: AccountRecords, _ server: LoopbackServer, _ transport: any HTTPTransport) throws {
        self.store = store
        self.server = server
        self.transport = RecordingTransport(next: transport)
        authenticator = Authenticator(
            store: store, transport: self.transport, device: PushDevice(token: "bench", name: "Bench"), retention: .all)
        let endpoint = "http://127.0.0.1:\(server.port)/am/json/realms/root/push/sns/message?_action="
        let settings = PushSettings(
            secret: secret, registrationEndpoint: try Endpoint(endpoint + "register"),
            authenticationEndpoint: try Endpoint(endpoint + "authenticate"), loadBalancerCookie: "amlbcookie=01")
        let account = Account(id: AccountID(issuer: "Harbor Bank", accountName: "mira"), timeAdded: .now)
        let mechanism = Mechanism(uid: uid, account: account.id, kind: .push(settings), timeAdded: .now)
        try store.write { (records: any AccountWriter) throws(StoreError) in
            try records.save(account)
            try records.save(mechanism)
        }
    }

    /// So many messages that are new.
    func deliveries(_ count: Int) -> [PushDelivery] {
        (0..<count).map { _ in
            number += 1
            let message = PushMessage(
                mechanismUID: uid, challenge: [UInt8](repeating: 3, count: 32), kind: .tap, timeToLive: 120, sentAt: .now,
                text: "Login attempt at Harbor Bank")
            return PushDelivery(messageId: "AUTHENTICATE:\(number)", message: message.sealed(with: secret))
        }
    }

    /// Receives them in the order of the server's stream, and approves each while the next ones come in.
    func answer(_ deliveries: [PushDelivery]) async throws {
        let authenticator = authenticator
        let (received, come) = AsyncThrowingStream.makeStream(of: String.self)
        async let listening: Void = {
            do {
                for delivery in deliveries { come.yield(try await authenticator.receive(delivery).id) }
                come.finish()
            } catch {
                come.finish(throwing: error)
            }
        }()
        for try await id in received { _ = try await authenticator.approve(id) }
        await listening
    }

    /// The request that an approval makes.
    func recordedRequest() async throws -> HTTPRequest {
        try await answer(deliveries(1))
        guard let request = transport.last.withLock({ $0 }) else { throw BenchError("an approval made no request") }
        return request
    }

    /// Checks that every message is stored as approved, and that the server got one request for each, besides the bare ones.
    func check(posts: Int) async throws {
        let approved = try await authenticator.notifications().filter { $0.decision == .approved }
        let requests = server.requests.withLock { $0 }
        guard Set(approved.map(\.messageID)).count == number, requests == number + posts else {
            throw BenchError("\(approved.count) of \(number) messages are approved, with \(requests - posts) requests")
        }
    }
}
