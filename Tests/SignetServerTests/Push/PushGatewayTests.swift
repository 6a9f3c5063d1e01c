import Foundation
import HTTPTypes
import SignetCore
import SignetPushGateway
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

/// A sender that signs as AWS does, for a server that is a push gateway.
struct Sender: Sendable {
    static let key = AWSCredentials(accessKey: "AKIDGATEWAY", secret: Secret("the gateway's secret".utf8))
    static let application = "arn:aws:sns:us-east-1:123456789012:app/GCM/am"

    var credentials = key
    var path = "/sns"

    static func run(_ body: @Sendable (TestServer) async throws -> Void) async throws {
        let configuration = ServerConfiguration.sample {
            $0.port = 0
            $0.pushGateway = PushGatewayConfiguration(keys: [key])
        }
        try await TestServer.run(configuration, body)
    }

    func send(_ fields: [String: String], to server: TestServer) async throws -> Reply {
        let body = FormCoding.encode(fields.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) })
        let scope = AWSSignature.Scope(time: AWSTime.text(server.clock.now), region: "us-east-1", service: "sns")
        let type = "application/x-www-form-urlencoded"
        let request = AWSSignature.Request(
            method: "POST", path: path, query: [],
            headers: [("content-type", type), ("host", "localhost"), ("x-amz-date", scope.time)], body: Array(body.utf8))
        let authorization = AWSSignature.authorization(of: request, scope, credentials)
        return try await server.send(
            .post, path, headers: ["content-type": type, "x-amz-date": scope.time, "Authorization": authorization], body: body)
    }

    /// The ARN of a new endpoint.
    func endpoint(_ token: String, at server: TestServer, _ attributes: [String: String] = [:]) async throws -> String {
        let reply = try await create(token, at: server, attributes)
        return try #require(SNSAnswer.element("EndpointArn", in: Array(reply.text.utf8)), "\(reply.text)")
    }

    func create(_ token: String, at server: TestServer, _ attributes: [String: String] = [:]) async throws -> Reply {
        try await send(
            ["Action": "CreatePlatformEndpoint", "PlatformApplicationArn": Self.application, "Token": token]
                .merging(Self.entries(attributes)) { $1 }, to: server)
    }

    static func entries(_ attributes: [String: String]) -> [String: String] {
        var entries: [String: String] = [:]
        for (index, attribute) in attributes.sorted(by: { $0.key < $1.key }).enumerated() {
            entries["Attributes.entry.\(index + 1).key"] = attribute.key
            entries["Attributes.entry.\(index + 1).value"] = attribute.value
        }
        return entries
    }

    func publish(_ delivery: PushDelivery, to endpoint: String, at server: TestServer) async throws -> Reply {
        try await send(
            [
                "Action": "Publish", "TargetArn": endpoint, "MessageStructure": "json",
                "Message": SNSEnvelope.wrap(delivery, text: "Login"),
            ].merging(delivery.subject.map { ["Subject": $0] } ?? [:]) { $1 }, to: server)
    }
}

extension Reply {
    fileprivate var errorCode: String? { SNSAnswer.element("Code", in: Array(text.utf8)) }
    fileprivate func element(_ name: String) -> String? { SNSAnswer.element(name, in: Array(text.utf8)) }
}

extension TestServer {
    /// The number of rows of a kind.
    fileprivate func count(_ kind: RowKind) async throws -> Int {
        let now = clock.now
        return try await devServer.context.store.queue.run { rows in
            rows.now = now
            return (try rows.count(kind, limit: 100), [])
        }
    }

    fileprivate func waiting(_ address: String) async throws -> [InboxMessage] {
        try await devServer.context.store.read { tx in try tx.gateway.retained(for: address, after: nil) }
    }
}

@Suite("Push gateway")
struct PushGatewayTests {
    static func inbox(_ seed: String = "a secret of thirty-two bytes....") throws -> PushInbox {
        try PushInbox(of: Secret(seed.utf8))
    }

    private static var address: String { (try? inbox())?.address ?? "none" }

    private static let delivery = PushDelivery(messageId: "AUTHENTICATE:1", message: "a.b.c")

    @Test("An endpoint of an inbox receives AM's messages, and all actions answer as SNS does")
    func answersActionsAsSNS() async throws {
        try await Sender.run { server in
            let (sender, inbox) = (Sender(), try Self.inbox())
            let arn = try await sender.endpoint(inbox.address, at: server, ["Enabled": "true", "Token": inbox.address])
            #expect(arn.hasPrefix("arn:aws:sns:us-east-1:123456789012:endpoint/GCM/am/"))
            let reply = try await sender.publish(Self.delivery, to: arn, at: server)
            #expect(reply.status == 200 && reply.header("Content-Type") == "text/xml")
            #expect(reply.text.contains("<PublishResponse xmlns=\"http://sns.amazonaws.com/doc/2010-03-31/\">"))
            #expect(reply.element("MessageId") != nil && reply.element("RequestId") == reply.header("x-amzn-RequestId"))
            #expect(try await server.waiting(inbox.address).map(\.message) == ["a.b.c"])
            // A sender that misses the answer sends the message again; the inbox keeps it once.
            #expect(try await sender.publish(Self.delivery, to: arn, at: server).status == 200)
            #expect(try await server.waiting(inbox.address).count == 1)

            let attributes = try await sender.send(["Action": "GetEndpointAttributes", "EndpointArn": arn], to: server)
            #expect(attributes.text.contains("<entry><key>Enabled</key><value>true</value></entry>"))
            #expect(attributes.text.contains("<entry><key>Token</key><value>\(inbox.address)</value></entry>"))

            let disable = ["Action": "SetEndpointAttributes", "EndpointArn": arn]
                .merging(Sender.entries(["Enabled": "false", "CustomUserData": "<&>"])) { $1 }
            #expect(try await sender.send(disable, to: server).status == 200)
            let refused = try await sender.publish(PushDelivery(messageId: "2", message: "x"), to: arn, at: server)
            #expect(refused.status == 400 && refused.errorCode == "EndpointDisabled")
            #expect(
                try await sender.send(["Action": "GetEndpointAttributes", "EndpointArn": arn], to: server).element("value")
                    == "<&>"
            )

            #expect(try await sender.send(["Action": "DeleteEndpoint", "EndpointArn": arn], to: server).status == 200)
            #expect(try await sender.send(["Action": "DeleteEndpoint", "EndpointArn": arn], to: server).status == 200)
            #expect(try await sender.publish(Self.delivery, to: arn, at: server).errorCode == "NotFound")
            #expect(try await server.waiting(inbox.address).isEmpty)
        }
    }

    @Test("A request for a disabled endpoint names it and then finds it, as OpenAM expects")
    func recoversDisabledEndpoint() async throws {
        try await Sender.run { server in
            let (sender, inbox) = (Sender(), try Self.inbox())
            let arn = try await sender.endpoint(inbox.address, at: server, ["Enabled": "true"])
            #expect(try await sender.endpoint(inbox.address, at: server, ["Enabled": "true"]) == arn)
            let disable = ["Action": "SetEndpointAttributes", "EndpointArn": arn].merging(Sender.entries(["Enabled": "false"])) {
                $1
            }
            _ = try await sender.send(disable, to: server)
            let conflict = try await sender.create(inbox.address, at: server, ["Enabled": "true"])
            #expect(conflict.status == 400 && conflict.errorCode == "InvalidParameter")
            #expect(
                conflict.element("Message")?.contains("Endpoint \(arn) already exists with the same Token, but different") == true
            )
            #expect(try await sender.endpoint(inbox.address, at: server, ["Enabled": "false"]) == arn)
        }
    }

    @Test("A request that is signed with another secret gets the error document of AWS")
    func refusesWrongSecret() async throws {
        try await Sender.run { server in
            var sender = Sender()
            sender.credentials.secret = Secret("wrong".utf8)
            let reply = try await sender.create(Self.address, at: server)
            #expect(reply.status == 403 && reply.errorCode == "SignatureDoesNotMatch")
            #expect(reply.text.contains("<Type>Sender</Type>") && reply.header("Content-Type") == "text/xml")
        }
    }

    @Test("A moved server clock does not expire the signatures of senders")
    func movedClockKeepsSignaturesValid() async throws {
        try await Sender.run { server in
            server.devServer.moveClock(by: .seconds(86_400))
            let reply = try await Sender().create(Self.address, at: server)
            #expect(reply.status == 200)
        }
    }

    @Test("The gateway refuses other methods and large bodies, and a server without a gateway answers 404")
    func limitsMethodsBodiesAndPaths() async throws {
        try await Sender.run { server in
            let large = try await server.send(.post, "/sns", headers: [:], body: String(repeating: "x", count: 300_000))
            #expect(large.status == 413)
            #expect(try await server.send(.put, "/sns").status == 405)
            #expect(try await server.send(.post, "/sns/").status == 403)
            #expect(try await server.send(.post, "/snsx").status == 404)
        }
        try await TestServer.run { server in
            let reply = try await server.send(.post, "/sns")
            #expect(reply.status == 404)
        }
        try await TestServer.run(.sample { $0.pushGateway = PushGatewayConfiguration(keys: [Sender.key]) { $0.path = "/" } }) {
            server in
            let reply = try await Sender(path: "/").create(Self.address, at: server)
            #expect(reply.status == 200)
        }
    }

    @Test("A full inbox refuses messages without losing any until expired messages make room")
    func fullInboxRefusesMessages() async throws {
        try await Sender.run { server in
            let (sender, inbox) = (Sender(), try Self.inbox())
            let arn = try await sender.endpoint(inbox.address, at: server)
            for number in 1...PushMessageStore.inboxCapacity {
                let reply = try await sender.publish(PushDelivery(messageId: "\(number)", message: "x"), to: arn, at: server)
                #expect(reply.status == 200)
            }
            let refused = try await sender.publish(PushDelivery(messageId: "65", message: "x"), to: arn, at: server)
            #expect(refused.status == 429 && refused.errorCode == "Throttled")
            #expect(try await server.waiting(inbox.address).map(\.messageID) == (1...64).map(String.init))
            server.clock.advance(by: 120)
            #expect(try await server.waiting(inbox.address).isEmpty)
            #expect(try await sender.publish(PushDelivery(messageId: "65", message: "x"), to: arn, at: server).status == 200)
        }
    }

    @Test("C9: The gateway hands on the subject of a publication beside the signed message, cut to the length that SNS allows")
    func handsOnSubject() async throws {
        try await Sender.run { server in
            let (sender, inbox) = (Sender(), try Self.inbox())
            let arn = try await sender.endpoint(inbox.address, at: server)
            let subjects = [nil, "Login attempt from bob at LabAM", String(repeating: "x", count: 300)]
            for (number, subject) in subjects.enumerated() {
                let delivery = PushDelivery(messageId: "\(number)", message: "a.b.c", subject: subject)
                #expect(try await sender.publish(delivery, to: arn, at: server).status == 200)
            }
            let waiting = try await server.waiting(inbox.address)
            #expect(waiting.map(\.subject) == [nil, "Login attempt from bob at LabAM", String(repeating: "x", count: 100)])
            let event = JSON.text(of: waiting[1].delivery)
            #expect(event.contains(#""subject":"Login attempt from bob at LabAM""#))
            #expect(JSON.text(of: waiting[0].delivery) == #"{"message":"a.b.c","messageId":"0"}"#)
        }
    }

    // MARK: Devices

    static func nonce(_ server: TestServer) async throws -> String {
        let reply = try await server.send(.get, "/sns", headers: [:])
        #expect(reply.status == 401)
        let challenge = try #require(reply.header("WWW-Authenticate"))
        #expect(challenge.hasPrefix("Signet-Inbox nonce=\""))
        return String(challenge.dropFirst("Signet-Inbox nonce=\"".count).dropLast())
    }

    @Test(
        "An inbox opens only to a fresh proof of its own key once a sender has created its endpoint")
    func inboxOpensOnlyToOwner() async throws {
        try await Sender.run { server in
            let (inbox, other) = (try Self.inbox(), try Self.inbox("another secret of 32 bytes......"))
            func status(_ authorization: String) async throws -> Int {
                try await server.send(.get, "/sns", headers: ["Authorization": authorization]).status
            }
            // No sender has created the endpoint yet.
            let early = try inbox.proof(try await Self.nonce(server))
            #expect(try await status("Signet-Inbox \(early)") == 401)
            // Proofs of unknown keys take no memory of the server.
            #expect(try await server.count(.nonce) == 0)
            _ = try await Sender().endpoint(inbox.address, at: server)
            let otherProof = try other.proof(try await Self.nonce(server))
            #expect(try await status("Signet-Inbox \(otherProof)") == 401)
            let invented = try inbox.proof("made up")
            #expect(try await status("Signet-Inbox \(invented)") == 401)
            let good = try inbox.proof(try await Self.nonce(server))
            #expect(try await status("Signet-Push-Stream \(good)") == 401)
            #expect(try await status("Signet-Inbox ") == 401)
            #expect(try await status("Signet-Inbox a.b.c") == 401)
            server.clock.advance(by: 61)
            #expect(try await status("Signet-Inbox \(good)") == 401)
        }
    }

    #if os(Linux)
    @Test("The stream of an inbox brings the pending messages and the newly published ones")
    func streamsInbox() async throws {
        try await Sender.run { server in
            let (sender, inbox) = (Sender(), try Self.inbox())
            let arn = try await sender.endpoint(inbox.address, at: server)
            _ = try await sender.publish(PushDelivery(messageId: "1", message: "a"), to: arn, at: server)
            try await server.serve { port in
                func open(after last: String? = nil) async throws -> RawHTTPConnection {
                    let connection = try RawHTTPConnection(port: port)
                    let lines = [
                        "GET /sns HTTP/1.1", "Host: 127.0.0.1",
                        "Authorization: Signet-Inbox \(try inbox.proof(try await Self.nonce(server)))",
                    ]
                    connection.send(
                        (lines + (last.map { ["Last-Event-ID: \($0)"] } ?? [])).joined(separator: "\r\n") + "\r\n\r\n")
                    return connection
                }
                let first = try await open()
                let events = try await first.events(1)
                #expect(events.first?.name == "push")
                #expect(
                    try JSON.decode(PushDelivery.self, from: events[0].data.utf8) == PushDelivery(messageId: "1", message: "a"))
                _ = try await sender.publish(PushDelivery(messageId: "2", message: "b"), to: arn, at: server)
                #expect(try JSON.decode(PushDelivery.self, from: try await first.events(1)[0].data.utf8).messageId == "2")
                // A returning device gets the messages that arrived meanwhile, each once.
                first.vanish()
                let second = try await open(after: events[0].id)
                #expect(try JSON.decode(PushDelivery.self, from: try await second.events(1)[0].data.utf8).messageId == "2")
                // Deletion of the endpoint removes the inbox and ends its streams.
                _ = try await sender.send(["Action": "DeleteEndpoint", "EndpointArn": arn], to: server)
                let rest = await second.read { _ in false }
                #expect(rest.contains("0\r\n"))
                second.vanish()
            }
        }
    }
    #endif
}
