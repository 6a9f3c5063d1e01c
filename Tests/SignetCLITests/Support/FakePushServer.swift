import Foundation
import SignetCore
import TestSupport
import Testing

/// A stand-in for a push server: it registers every device, and its push stream sends the messages that a test gives it.
final class FakePushServer: Sendable {
    private let records: Records
    private let server: RawServer

    /// Starts a server that shares `secret` with the devices that enroll at it.
    init(port: ReservedPort? = nil, secret: Secret = PushInvitation.sampleSecret) throws {
        let records = Records(secret: secret)
        self.records = records
        server = try RawServer(port: port) { connection in
            while let request = connection.request() { records.answer(request, connection) }
        }
    }

    var port: Int { server.port }
    /// The URI that enrolls at this server; each number is another registration.
    func uri(_ number: Int = 1, oath: OATHSettings? = nil) throws -> String {
        var invitation = try PushInvitation.sample(port: port)
        invitation.secret = records.secret
        invitation.messageID = "REGISTER:\(number)"
        return invitation.uri(oath: oath)
    }
    /// The number of registrations that the server has accepted.
    var registrations: Int { records.state.withLock { $0.registrations } }
    /// The id under which the authenticator registered.
    var mechanismUID: String { records.state.withLock { $0.mechanismUID } }
    /// The claims of the answers that arrived.
    var answers: [JSONValue] { records.state.withLock { $0.answers } }
    /// The `Last-Event-ID` of every stream that was opened.
    var lastEventIDs: [String?] { records.state.withLock { $0.lastEventIDs } }

    /// Sends an event to every listener, connected now or later.
    func send(_ event: ServerSentEvent) {
        records.state.withLock { state in
            state.events.append(event.encoded)
            for stream in state.streams { stream.send(Records.chunk(event.encoded)) }
        }
    }

    /// Sends a message under an event id.
    func send(_ delivery: PushDelivery, id: String) {
        send(ServerSentEvent(id: id, name: "push", data: JSON.text(of: delivery)))
    }

    /// Makes a message to the registered or another mechanism, signed with its secret or another.
    func message(
        id: String, kind: PushKind = .tap, text: String? = "Log in?", subject: String? = nil, mechanismUID: String? = nil,
        secret: Secret? = nil, sentAt: Date = Date(), timeToLive: Int = 120
    ) throws -> PushDelivery {
        let message = PushMessage(
            mechanismUID: mechanismUID ?? self.mechanismUID, challenge: [1, 2, 3], kind: kind, timeToLive: timeToLive,
            sentAt: sentAt,
            text: text)
        return PushDelivery(messageId: id, message: message.sealed(with: secret ?? records.secret), subject: subject)
    }

    /// Refuses each registration with this status from now on.
    func refuseRegistrations(with status: String) { records.state.withLock { $0.refusal = status } }

    /// Responds to answers with this status from now on.
    func answer(with status: String) { records.state.withLock { $0.status = status } }

    /// Stops the server: open streams end, and the port is closed.
    func stop() {
        server.stop()
        records.state.withLock { state in
            for stream in state.streams { stream.cut() }
        }
    }

    private final class Records: Sendable {
        struct State {
            var mechanismUID = ""
            var answers: [JSONValue] = []
            var lastEventIDs: [String?] = []
            var events: [String] = []
            var streams: [RawConnection] = []
            var status = "200 OK"
            var registrations = 0
            /// The status of the response to a registration that is refused.
            var refusal: String?
        }

        let state = Mutex(State())
        let secret: Secret

        init(secret: Secret) { self.secret = secret }

        func answer(_ request: RawConnection.Request, _ connection: RawConnection) {
            switch request.line.split(separator: " ").prefix(2).joined(separator: " ") {
            case "POST /register":
                let refusal = state.withLock { state -> String? in
                    guard state.refusal == nil else { return state.refusal }
                    state.mechanismUID = claims(request)["mechanismUid"]?.string ?? ""
                    state.registrations += 1
                    return nil
                }
                if let refusal { return connection.answer(refusal, "{}") }
                let host = request.header("host") ?? ""
                connection.answer("200 OK", headers: ["Link: <http://\(host)/stream>; rel=\"signet-push-stream\""], "{}")
            case "POST /authenticate":
                let status = state.withLock { state in
                    state.answers.append(claims(request))
                    return state.status
                }
                connection.answer(status, "{}")
            case "GET /stream" where request.header("authorization") == nil:
                connection.answer("401 Unauthorized", headers: ["WWW-Authenticate: Signet-Push-Stream nonce=\"once\""])
            case "GET /stream":
                // In chunks, as real servers send it: a stream that is cut is a response that ends in the middle.
                connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
                state.withLock { state in
                    state.lastEventIDs.append(request.header("last-event-id"))
                    connection.send(Self.chunk(":\n\n" + state.events.joined()))
                    state.streams.append(connection)
                }
                connection.waitForEnd()
                state.withLock { $0.streams.removeAll { $0 == connection } }
            default:
                connection.answer("404 Not Found")
            }
        }

        static func chunk(_ text: String) -> String {
            "\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n"
        }

        private func claims(_ request: RawConnection.Request) -> JSONValue {
            let body = try? JSON.decode(PushRequestBody.self, from: Array(request.body.utf8))
            let payload = try? body.map { try CompactJWS($0.jwt).payload(verifiedWith: secret) }
            return payload.flatMap { try? JSON.value(of: $0) } ?? .null
        }
    }
}

extension FakePushServer {
    /// Runs `body` with an account that has codes and push at a server, and one push message in the vault.
    static func withAccount(_ body: (FakePushServer, CommandLineFixture) async throws -> Void) async throws {
        let server = try FakePushServer()
        defer { server.stop() }
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri()).succeeds()
            try await cli.signet("enroll", "-", input: .text(server.uri())).succeeds()
            server.send(try server.message(id: "M1"), id: "1")
            try await cli.start(["push", "listen", "--once"]).end().succeeds()
            try await body(server, cli)
        }
    }
}
