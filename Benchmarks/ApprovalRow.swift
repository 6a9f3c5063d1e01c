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
enum ApprovalRow {
    static func measure() async throws -> Row {
        let server = try LoopbackServer()
        defer { server.stop() }
        let transport = AsyncHTTPTransport()
        let client = HTTPClient(configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))
        let outcome: Result<Race.Outcome, any Error>
        do {
            outcome = .success(try await race(server, transport, client))
        } catch {
            outcome = .failure(error)
        }
        await transport.close()
        try await client.shutdown()
        return Row("push approval, beside a bare POST", try outcome.get(), .atMost(1.5))
    }

    private static func race(
        _ server: LoopbackServer, _ transport: AsyncHTTPTransport, _ client: HTTPClient
    ) async throws -> Race.Outcome {
        let server = try ApprovalServer(port: server.port, sample: Sample.push())
        let post = HTTPClientRequest(try await server.recordedRequest(over: transport))
        let ours = Contender.timed("Authenticator.approve") { try await server.approve(over: transport) }
        let reference = Contender.timed("HTTPClient.execute") {
            _ = try await server.receive(over: transport)
            return try await ContinuousClock().measure {
                _ = try await client.execute(post, timeout: .seconds(30)).body.collect(upTo: 1 << 20)
            }
        }
        return try await Race(ours: ours, reference: reference).run()
    }
}

/// Approvals of the sample message, each in a store of its own, so that the first costs what the last does.
private struct ApprovalServer {
    private let sample: Sample.Push
    private let mechanism: Mechanism

    init(port: UInt16, sample: Sample.Push) throws {
        self.sample = sample
        let endpoint = "http://127.0.0.1:\(port)/am/json/realms/root/push/sns/message?_action="
        let settings = PushSettings(
            secret: Secret(sample.secret), registrationEndpoint: try Endpoint(endpoint + "register"),
            authenticationEndpoint: try Endpoint(endpoint + "authenticate"), loadBalancerCookie: "amlbcookie=01")
        mechanism = Mechanism(
            uid: sample.mechanismUID, account: AccountID(issuer: "Harbor Bank", accountName: "mira"), kind: .push(settings),
            timeAdded: sample.sentAt)
    }

    /// An authenticator that has just received the message.
    func receive(over transport: any HTTPTransport) async throws -> (Authenticator, PushNotification) {
        let store = AccountRecords(unsealed: MemoryStore())
        let account = Account(id: mechanism.account, timeAdded: sample.sentAt)
        try store.write { [mechanism] (records: any AccountWriter) throws(StoreError) in
            try records.save(account)
            try records.save(mechanism)
        }
        let authenticator = Authenticator(
            store: store, transport: transport, device: PushDevice(token: "bench", name: "Bench"),
            clock: StoppedClock(now: sample.sentAt))
        let delivery = PushDelivery(messageId: "AUTHENTICATE:bench", message: sample.jwt)
        return (authenticator, try await authenticator.receive(delivery))
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
