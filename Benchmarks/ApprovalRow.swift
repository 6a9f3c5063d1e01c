import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage

/// One push approval over loopback beside a bare POST of the same bytes to the same server with the same HTTP client.
///
/// The server is ``LoopbackServer`` and not the server: it does next to nothing, the same for both sides, so the ratio says what
/// an approval adds to a POST. With a development server both sides would wait for its work, and the ratio would be nearer to one.
///
/// Before an approval a message is received, untimed. The same is done before a POST: a connection that has been idle for
/// that long answers later than one that is kept busy, on either side.
///
/// The second row is an approval in a vault, which waits for the disk once: before the request. Its reference is a bare POST after a
/// durable write of a record to the same vault. The answer itself is stored without waiting for the disk.
enum ApprovalRow {
    static func measure() async throws -> [Row] {
        let directory = FileManager.default.temporaryDirectory.path + "/signet-bench-approval-\(getpid())"
        defer {
            // What is left lies where the system clears up.
            try? FileManager.default.removeItem(atPath: directory)
        }
        let memory = try await row("push approval, beside a bare POST", vault: nil)
        let vault = try VaultDirectory(path: directory).createVault(.keyFile)
        return [memory, try await row("push approval in a vault, beside a durable write and a bare POST", vault: vault)]
    }

    private static func row(_ name: String, vault: Vault?) async throws -> Row {
        let server = try LoopbackServer()
        defer { server.stop() }
        let approvals = try ApprovalServer(port: server.port, sample: Sample.push(), vault: vault)
        let outcome = try await RaceClients.with { transport, client in try await race(approvals, transport, client) }
        return Row(name, outcome, .atMost(1.5))
    }

    private static func race(
        _ server: ApprovalServer, _ transport: AsyncHTTPTransport, _ client: HTTPClient
    ) async throws -> Race.Outcome {
        let post = HTTPClientRequest(try await server.recordedRequest(over: transport))
        let ours = Contender.timed("Authenticator.approve") { try await server.approve(over: transport) }
        let reference = Contender.timed(server.vault == nil ? "HTTPClient.execute" : "Vault.write, HTTPClient.execute") {
            _ = try await server.receive(over: transport)
            return try await ContinuousClock().measure {
                try server.saveRecord()
                _ = try await client.execute(post, timeout: .seconds(30)).body.collect(upTo: 1 << 20)
            }
        }
        return try await Race(ours: ours, reference: reference).run()
    }
}

/// Approvals of the sample message: each in a store of its own, so that the first costs what the last does, or all in one vault,
/// which keeps as many messages as it does by default.
private final class ApprovalServer: Sendable {
    let vault: Vault?
    private let sample: Sample.Push
    private let mechanism: Mechanism
    private let number = Mutex(0)

    init(port: UInt16, sample: Sample.Push, vault: Vault?) throws {
        self.sample = sample
        self.vault = vault
        let endpoint = "http://127.0.0.1:\(port)/am/json/realms/root/push/sns/message?_action="
        let settings = PushSettings(
            secret: Secret(sample.secret), registrationEndpoint: try Endpoint(endpoint + "register"),
            authenticationEndpoint: try Endpoint(endpoint + "authenticate"), loadBalancerCookie: "amlbcookie=01")
        mechanism = Mechanism(
            uid: sample.mechanismUID, account: AccountID(issuer: "Harbor Bank", accountName: "mira"), kind: .push(settings),
            timeAdded: sample.sentAt)
        if let vault { try enroll(in: AccountRecords(vault)) }
    }

    private func enroll(in store: AccountRecords) throws {
        let account = Account(id: mechanism.account, timeAdded: sample.sentAt)
        try store.write { [mechanism] (records: any AccountWriter) throws(StoreError) in
            try records.save(account)
            try records.save(mechanism)
        }
    }

    /// An authenticator that has just received the message.
    func receive(over transport: any HTTPTransport) async throws -> (Authenticator, PushNotification) {
        let store = if let vault { AccountRecords(vault) } else { AccountRecords(unsealed: MemoryStore()) }
        if vault == nil { try enroll(in: store) }
        let authenticator = Authenticator(
            store: store, transport: transport, device: PushDevice(token: "bench", name: "Bench"),
            clock: StoppedClock(now: sample.sentAt))
        let delivery = PushDelivery(messageId: "AUTHENTICATE:\(next())", message: sample.jwt)
        return (authenticator, try await authenticator.receive(delivery))
    }

    /// Writes a record to the vault, if there is one.
    func saveRecord() throws {
        let content = withUnsafeBytes(of: next()) { Array($0) } + [UInt8](repeating: 0x5A, count: 504)
        try vault?.write { (records: any RecordWriter) throws(StoreError) in
            try records.put(content, RecordKey(.item, "bench"))
        }
    }

    private func next() -> Int {
        number.withLock { number in
            number += 1
            return number
        }
    }

    /// Measures one approval.
    func approve(over transport: any HTTPTransport) async throws -> Duration {
        let (authenticator, notification) = try await receive(over: transport)
        let begin = ContinuousClock.now
        let answered = try await authenticator.approve(notification.id, number: sample.number)
        let end = ContinuousClock.now
        guard answered.decision == .approved else { throw BenchError("the approval was not taken") }
        return end - begin
    }

    /// The request that an approval makes.
    func recordedRequest(over transport: any HTTPTransport) async throws -> HTTPRequest {
        let recorder = RecordingTransport(next: transport)
        _ = try await approve(over: recorder)
        guard let request = recorder.last.withLock({ $0 }) else { throw BenchError("an approval made no request") }
        return request
    }
}

/// The time of the sample message, for ever: it never expires.
private struct StoppedClock: WallClock {
    let now: Date
}

/// Keeps the last request, and passes it on.
final class RecordingTransport: HTTPTransport {
    let last = Mutex<HTTPRequest?>(nil)
    private let next: any HTTPTransport

    init(next: any HTTPTransport) { self.next = next }

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        last.withLock { $0 = request }
        return try await next.send(request)
    }

    func stream(
        _ request: HTTPRequest, receive: ContentReceiver
    ) async throws -> HTTPResponse {
        try await next.stream(request, receive: receive)
    }
}

extension HTTPClientRequest {
    /// The same request, for the bare client.
    init(_ request: HTTPRequest) {
        self.init(url: request.url)
        method = HTTPMethod(rawValue: request.method)
        for field in request.headers.fields { headers.add(name: field.name, value: field.value) }
        body = .bytes(request.body)
    }
}
