import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@Suite("signet push with an untrusted or unreliable push stream")
struct PushFaultTests {
    /// Invalid events that a push stream sends, and words of the refusal.
    enum BadEvent: CaseIterable {
        case forged, unsigned, unknownMechanism, notJSON, notSigned, noID, badClaim

        var words: [String] {
            switch self {
            case .forged: ["refused a message", "signature"]
            case .unsigned: ["refused a message", "HS256"]
            case .unknownMechanism: ["refused a message", "mechanism", "somebody-else"]
            case .notJSON, .notSigned, .noID: ["refused a message", "form"]
            case .badClaim: ["refused a message", "claim t"]
            }
        }

        func event(of server: FakePushServer) throws -> ServerSentEvent {
            let good = try server.message(id: "M1")
            switch self {
            case .forged: return try Self.event(server.message(id: "M1", secret: Secret(Array(repeating: 1, count: 32))))
            case .unsigned:
                let parts = good.message.split(separator: ".")
                let header = Base64.encode(Array(#"{"typ":"JWT","alg":"none"}"#.utf8), as: .url)
                return Self.event(PushDelivery(messageId: "M1", message: "\(header).\(parts[1])."))
            case .unknownMechanism: return try Self.event(server.message(id: "M1", mechanismUID: "somebody-else"))
            case .notJSON: return ServerSentEvent(id: "1", name: "push", data: "<html>")
            case .notSigned: return Self.event(PushDelivery(messageId: "M1", message: "hello"))
            case .noID: return Self.event(PushDelivery(messageId: "", message: good.message))
            case .badClaim: return try Self.event(server.message(id: "M1", timeToLive: 0))
            }
        }

        private static func event(_ delivery: PushDelivery) -> ServerSentEvent {
            ServerSentEvent(id: "1", name: "push", data: JSON.text(of: delivery))
        }
    }

    @Test(
        "An invalid message is reported on standard error and not stored, and the next valid one arrives",
        arguments: BadEvent.allCases)
    func refusesInvalidMessage(event: BadEvent) async throws {
        try await withServer { server, cli in
            server.send(try event.event(of: server))
            let listening = try cli.start(["push", "listen", "--once", "--json"])
            try await listening.waitForOutput { _, errors in event.words.allSatisfy { errors.contains($0) } }
            #expect(try await cli.messages().isEmpty)
            server.send(try server.message(id: "M2"), id: "2")
            let outcome = try await listening.end().succeeds()
            #expect(outcome.json["messageId"]?.string == "M2")
            let secretBytes = PushInvitation.sampleSecret.withUnsafeBytes { Array($0) }
            #expect(!outcome.errors.contains(Base64.encode(secretBytes, as: .url)))
            let storedIDs = try await cli.messages().compactMap { $0["messageId"]?.string }
            #expect(storedIDs == ["M2"])
        }
    }

    @Test("A message sent three times to two listeners is stored as one record")
    func storesRepeatedMessageOnce() async throws {
        try await withServer { server, cli in
            let delivery = try server.message(id: "M1")
            for id in 1...3 { server.send(delivery, id: String(id)) }
            let listeners = try (0..<2).map { _ in try cli.start(["push", "listen", "mira", "--json", "--timeout", "20"]) }
            for listener in listeners {
                try await listener.waitForOutput { output, _ in output.split(separator: "\n").count == 3 }
            }
            for listener in listeners { listener.signal(SIGINT) }
            let ids = Set(await listeners.asyncMap { await $0.end() }.flatMap(\.jsonLines).map { $0["id"]?.string })
            #expect(ids.count == 1)
            #expect(try await cli.messages().count == 1)
        }
    }

    @Test("A repeat of an answered message stays answered, and does not end signet push listen --once")
    func ignoresRepeatOfAnsweredMessage() async throws {
        try await withServer { server, cli in
            let delivery = try server.message(id: "M1")
            server.send(delivery, id: "1")
            let id = try #require(try await listenOnce(cli)["id"]?.string)
            try await cli.signet("push", "approve", id).succeeds()
            server.send(try server.message(id: "M2"), id: "2")
            #expect(try await listenOnce(cli)["messageId"]?.string == "M2")
            let states = try await cli.messages().map { [$0["messageId"]?.string, $0["state"]?.string] }
            #expect(Set(states) == [["M1", "approved"], ["M2", "pending"]])
            #expect(server.answers.count == 1)
        }
    }

    @Test("signet push listen reconnects to a stream that was down, and resumes after the last event")
    func reconnectsToStream() async throws {
        let port = try ReservedPort()
        let first = try FakePushServer(port: port)
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", first.uri()).succeeds()
            first.send(try first.message(id: "M1"), id: "17")
            let listening = try cli.start(["push", "listen", "--json", "--timeout", "40"])
            try await listening.waitForOutput { output, _ in output.contains("M1") }
            first.stop()
            try await listening.waitForOutput { _, errors in errors.contains("next try in") }
            let second = try FakePushServer(port: port)
            second.send(try second.message(id: "M2", mechanismUID: first.mechanismUID), id: "18")
            try await listening.waitForOutput { output, _ in output.contains("M2") }
            #expect(second.lastEventIDs == ["17"])
            listening.signal(SIGINT)
            _ = await listening.end()
            #expect(try await cli.messages().count == 2)
        }
    }

    @Test("Without a message before --timeout, signet push listen exits with 0, and with --once with 69")
    func timesOutWithoutMessage() async throws {
        try await withServer { _, cli in
            async let once = cli.start(["push", "listen", "--once", "--timeout", "1"]).end()
            async let some = cli.start(["push", "listen", "--timeout", "1"]).end()
            try await once.fails(69, "no message came in 1 seconds")
            try await some.succeeds()
        }
    }

    @Test("A timeout longer than any clock can hold is accepted")
    func acceptsHugeTimeout() async throws {
        try await withServer { server, cli in
            let listening = try cli.start(["push", "listen", "--once", "--timeout", String(Int.max)])
            try await listening.waitForOutput { _, errors in errors.contains("Listening") }
            server.send(try server.message(id: "M1"), id: "1")
            try await listening.end().succeeds()
        }
    }

    @Test("A prefix that several message ids share is refused, and no message is answered")
    func requiresUniqueIDPrefix() async throws {
        try await withServer { server, cli in
            // Of seventeen ids, two begin with the same hexadecimal digit.
            for number in 1...17 { server.send(try server.message(id: "M\(number)"), id: String(number)) }
            let listening = try cli.start(["push", "listen", "--json"])
            let ids = try await listening.waitForOutput { output, _ in output.split(separator: "\n").count == 17 }
                .jsonLines.compactMap { $0["id"]?.string }
            listening.signal(SIGINT)
            _ = await listening.end()
            let groups = Dictionary(grouping: ids) { String($0.prefix(1)) }
            let sharedGroup = groups.first { $0.value.count > 1 }
            let (digit, sharing) = try #require(sharedGroup)
            for command in ["approve", "deny"] {
                try await cli.signet("push", command, digit).fails(65, "\(sharing.count) messages", "give more of it")
            }
            #expect(server.answers.isEmpty)
            try await cli.signet("push", "approve", sharing[0]).succeeds()
            #expect(server.answers.count == 1)
        }
    }

    @Test("A name that two push accounts share is refused with 65, and an unknown name with 66")
    func selectsPushAccount() async throws {
        try await withServer { server, cli in
            var second = try PushInvitation.sample(port: server.port)
            second.messageID = "REGISTER:2"
            try await cli.signet("enroll", second.uri(account: "noa")).succeeds()
            try await cli.signet("push", "listen", "Harbor", "--once").fails(65, "Harbor:mira", "Harbor:noa")
            try await cli.signet("push", "listen", "nobody").fails(66, "'nobody'")
        }
        try await CommandLineFixture.with { cli in
            try await cli.signet("push", "listen").fails(66, "no account here takes push messages")
            #expect(try await cli.signet("push", "list").succeeds().output == "No message waits for an answer.\n")
        }
    }

    /// The server's response to an answer, and the exit code.
    @Test(
        "An answer that the server rejects is not stored as sent",
        arguments: [("400 Bad Request", 77), ("500 Internal Server Error", 76), ("302 Found", 76)] as [(String, Int32)])
    func keepsRejectedAnswerOpen(status: String, code: Int32) async throws {
        try await withServer { server, cli in
            server.send(try server.message(id: "M1"), id: "1")
            let id = try #require(try await listenOnce(cli)["id"]?.string)
            server.answer(with: status)
            for command in ["approve", "deny"] { try await cli.signet("push", command, id).fails(code, "127.0.0.1", "HTTP") }
            let states = try await cli.messages().map { $0["state"]?.string }
            #expect(states == ["pending"])
            server.answer(with: "200 OK")
            let denied = try await cli.signet("push", "deny", id, "--json").succeeds()
            #expect(denied.json["state"]?.string == "denied")
            let denials = server.answers.map { $0["deny"]?.bool }
            #expect(denials == [nil, true, true])
        }
    }

    @Test("An answer to a stopped server is not stored, and the listener keeps retrying the stream")
    func reportsStoppedServer() async throws {
        try await withServer { server, cli in
            server.send(try server.message(id: "M1"), id: "1")
            let id = try #require(try await listenOnce(cli)["id"]?.string)
            server.stop()
            try await cli.signet("push", "approve", id).fails(69, "no connection", "try again")
            let states = try await cli.messages().map { $0["state"]?.string }
            #expect(states == ["pending"])
            let listening = try await cli.start(["push", "listen", "--once", "--timeout", "10"]).end()
            listening.fails(69, "no connection", "next try in 0.5", "no message came in 10 seconds")
        }
    }

    @Test("Control characters in a push message cannot steer the terminal")
    func escapesMessageText() async throws {
        try await withServer { server, cli in
            server.send(try server.message(id: "M1", text: "Log in\u{1B}[2J\u{202E}?\n\u{07}yes"), id: "1")
            let outcome = try await cli.start(["push", "listen", "--once"]).end().succeeds()
            let list = try await cli.signet("push", "list").succeeds()
            for text in [outcome.line, list.line] {
                let isSafe = text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202E && $0.value != 0x7F }
                #expect(isSafe, "\(text)")
                #expect(text.contains("Log in"))
            }
        }
    }

    private func withServer(_ body: (FakePushServer, CommandLineFixture) async throws -> Void) async throws {
        let server = try FakePushServer()
        defer { server.stop() }
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", server.uri()).succeeds()
            try await body(server, cli)
        }
    }

    private func listenOnce(_ cli: CommandLineFixture) async throws -> JSONValue {
        try await cli.start(["push", "listen", "--once", "--json", "--timeout", "30"]).end().succeeds().json
    }
}

extension Sequence {
    func asyncMap<T>(_ transform: (Element) async throws -> T) async rethrows -> [T] {
        var values: [T] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
