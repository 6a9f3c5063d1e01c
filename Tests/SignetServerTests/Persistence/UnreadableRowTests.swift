import Foundation
import HTTPTypes
import SignetCore
import SignetPushGateway
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

/// Unreadable rows: one affects no other row, is reported, and can be removed.
@Suite("Unreadable rows", .timeLimit(.minutes(5)))
struct UnreadableRowTests {
    /// The ways in which a row is damaged.
    enum Damage: String, CaseIterable, CustomTestStringConvertible {
        case newer, changed, otherValue

        var testDescription: String { rawValue }
        var code: StoreError.Code {
            switch self {
            case .newer: .newerFormat
            case .changed: .keyMismatch
            case .otherValue: .corrupt
            }
        }
    }

    /// Runs a server on its own file twice; in between, rows of `kinds` are damaged: those that `first` returns, or all if none.
    private func run(
        _ damage: Damage, _ kinds: Set<String>, log: RecordingLog = RecordingLog(),
        clients: [RegisteredClient] = TestServer.clients,
        first: @Sendable (TestServer) async throws -> Set<String>, then: @Sendable (TestServer) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let configuration = ServerConfiguration.sample {
            $0.adminToken = Secret(AdminTests.token.utf8)
            $0.clients = clients
            $0.state = .file(directory.file("state/server.sqlite"), key: StateLocation.key)
        }
        let clock = ManualClock()
        let names = Mutex<Set<String>>([])
        try await TestServer.run(configuration, clock: clock) { server in
            let meant = try await first(server)
            names.withLock { $0 = meant }
        }
        let store = try SignetServer.StateLocation.open(configuration.state).0
        let meant = names.withLock { $0 }
        try Self.damage(store, damage) { kinds.contains($0.kind) && (meant.isEmpty || meant.contains($0.name)) }
        store.close()
        try await TestServer.run(configuration, clock: clock, logger: log.logger, then)
    }

    private static func damage(_ store: any RowStore, _ damage: Damage, _ isMeant: (RowKey) -> Bool) throws {
        let coder = RowCoder(Sealing.derive("signet server rows", from: StateLocation.key))
        let rows = try FrozenRows.all(in: store).filter { isMeant($0.key) }
        #expect(!rows.isEmpty)
        try store.transact { _ throws(StoreError) in
            var changes = RowChanges()
            changes.now = .min
            for (key, row) in rows {
                var row = row
                switch damage {
                case .newer: row.bytes[0] = 200
                case .changed: row.bytes[row.bytes.count - 1] ^= 1
                case .otherValue: row.bytes = try coder.bytes(of: "something else", for: key)
                }
                changes.rows[key] = row
            }
            return ((), changes)
        }
    }

    /// The unreadable rows that the administration API reports.
    private func unreadableRows(_ server: TestServer) async throws -> [JSONValue] {
        let reply = try await server.admin(.get, "")
        return try #require(reply.json["unreadableRows"]?.array)
    }

    @Test(
        "An unreadable session hides no other session, is reported once and can be removed on request",
        arguments: Damage.allCases)
    func unreadableSessionIsReported(damage: Damage) async throws {
        let (kept, log) = (CarriedValues(), RecordingLog())
        try await run(damage, ["session"], log: log) { server in
            let (bad, good) = (try await server.session(), try await server.session())
            await kept.set("bad", bad)
            await kept.set("good", good)
            return [TokenHash(bad).text]
        } then: { server in
            let (bad, good) = (await kept["bad"], await kept["good"])
            let key = TokenHash(bad).text
            #expect(try await unreadableRows(server).isEmpty)
            // A client that presents the session gets 503.
            #expect(try await server.sessionAction("validate", ["iPlanetDirectoryPro": bad]).status == 503)
            #expect(try await server.isValid(good))
            for _ in 0..<2 {
                let all = try await server.admin(.get, "sessions?user=mira").json["sessions"]?.array
                let keys = all?.map { $0["key"]?.string }
                #expect(keys == [TokenHash(good).text])
            }
            #expect(try await server.admin(.get, "sessions").json["sessions"]?.array?.count == 1)
            let unreadable = try await unreadableRows(server)
            #expect(unreadable.count == 1 && unreadable[0]["kind"] == "session" && unreadable[0]["name"]?.string == key)
            #expect(unreadable[0]["reason"]?.string?.isEmpty == false)
            #expect(log.lines.ranges(of: "a row of the state cannot be read").count == 1)
            // The row was left unchanged.
            let row = try await server.devServer.context.store.queue.exclusively { (reader, _) throws(StoreError) in
                (try reader.row(RowKey(kind: "session", name: key)), RowChanges())
            }
            #expect(row != nil)

            let ended = try await server.admin(.delete, "sessions/\(key)")
            #expect(ended.status == 200 && ended.json["unreadable"] == .bool(true) && ended.json["key"]?.string == key)
            #expect(try await server.admin(.delete, "sessions/\(key)").status == 404)
            #expect(try await unreadableRows(server).isEmpty)
            #expect(try await server.sessionAction("validate", ["iPlanetDirectoryPro": bad]).json["valid"] == .bool(false))
            #expect(try await server.isValid(good))
        }
    }

    @Test("Ending all sessions of a user ends the unreadable ones too", arguments: ["sessions?user=mira", "sessions"])
    func endsUnreadableSessions(path: String) async throws {
        try await run(.newer, ["session"]) { server in
            for _ in 0..<3 { _ = try await server.session() }
            return []
        } then: { server in
            let (first, second) = (try await server.admin(.delete, path), try await server.admin(.delete, path))
            #expect(first.json["ended"]?.lenientInteger == 3 && second.json["ended"]?.lenientInteger == 0)
        }
    }

    @Test(
        "The end of an unreadable session revokes the tokens that end with it",
        arguments: ["sessions/{key}", "sessions?user=mira", "sessions"])
    func endOfUnreadableSessionRevokesTokens(path: String) async throws {
        let kept = CarriedValues()
        var clients = TestServer.clients
        clients[0].backchannelLogoutURI = "https://app.example.test/logout"
        try await run(.newer, ["session"], clients: clients) { server in
            let session = try await server.session()
            let tokens = try Tokens(try await server.exchange(try await server.code(session)))
            await kept.set("key", TokenHash(session).text)
            await kept.set("access", tokens.access)
            await kept.set("refresh", try #require(tokens.refresh))
            return []
        } then: { server in
            let (key, access, refresh) = (await kept["key"], await kept["access"], await kept["refresh"])
            let before = try await server.userInfo(access)
            let end = try await server.admin(.delete, path.replacing("{key}", with: key))
            let (after, renewal) = (try await server.userInfo(access), try await server.refresh(refresh))
            #expect(before.status == 200 && end.status == 200)
            #expect(after.status == 401 && renewal.error == "invalid_grant")
        }
    }

    @Test("An unreadable push message delays no other message and is removed with its device", arguments: Damage.allCases)
    func unreadablePushDelaysNoOther(damage: Damage) async throws {
        let kept = CarriedValues()
        try await run(damage, ["push"]) { server in
            let phone = try await server.registeredPhone()
            let bad = try await server.waitingLogin(phone: phone).push
            let good = try await server.waitingLogin(phone: phone).push
            await kept.set("good", good.messageID)
            return [bad.messageID]
        } then: { server in
            let good = await kept["good"]
            #expect(try await server.inbox("phone-1").map(\.messageID) == [good])
            // Another login can send its message without delay.
            #expect(try await server.logIn("PushLogin").step.waitMilliseconds != nil)
            #expect(try await server.inbox("phone-1").count == 2)
            // The inbox still lists the message, because a later version may be able to read it.
            let named = try await server.devServer.context.store.read { tx in
                try tx.pushes.named(for: "phone-1")
            }
            #expect(named.count == 3)
            let unreadableKinds = try await unreadableRows(server).map { $0["kind"] }
            #expect(unreadableKinds == ["push"])
            #expect(try await server.admin(.get, "pushes").json["pushes"]?.array?.count == 2)
            #expect(try await server.admin(.delete, "users/mira/devices").status == 200)
            #expect(try await unreadableRows(server).isEmpty)
        }
    }

    @Test(
        "An unreadable device hides no user, is 503 for its owner and is removed with the user's devices",
        arguments: Damage.allCases)
    func unreadableDeviceHidesNoUser(damage: Damage) async throws {
        try await run(damage, ["push-device"]) { server in
            _ = try await server.registeredPhone("CombinedRegistration")
            return []
        } then: { server in
            let users = try await server.admin(.get, "users?realm=/").json["users"]?.array
            let names = users?.map { $0["name"]?.string }
            #expect(names == ["mira", "noa"])
            let session = try await server.session()
            let own = try await server.send(
                .get, "/am/json/realms/root/users/mira/devices/2fa/push?_queryFilter=true",
                headers: ["iPlanetDirectoryPro": session])
            #expect(own.status == 503)
            let unreadableKinds = try await unreadableRows(server).map { $0["kind"] }
            #expect(unreadableKinds == ["push-device"])
            let left = try await server.admin(.delete, "users/mira/devices")
            #expect(left.status == 200 && left.json["devices"]?.array == [])
            #expect(try await unreadableRows(server).isEmpty)
            _ = try await server.registeredPhone(uid: "phone-2")
        }
    }

    @Test("An unreadable message in a gateway inbox hides no other message and is removed with the inbox")
    func unreadableInboxMessageHidesNoOther() async throws {
        let address = "signet-mailbox-x"
        let arn = "arn:aws:sns:eu-west-1:123456789012:app/GCM/signet"
        try await run(.changed, ["front-message"]) { server in
            try await server.devServer.context.store.write { tx in
                let application = try #require(SNSResource(arn))
                _ = try tx.gateway.create(application, arn: arn, token: address, EndpointAttributes())
                for id in ["1", "2"] {
                    try tx.gateway.add(PushDelivery(messageId: id, message: "m"), to: address)
                }
            }
            return ["\(address) 1"]
        } then: { server in
            let context = server.devServer.context
            let waiting = try await context.store.read { tx in
                try tx.gateway.retained(for: address, after: nil).map(\.messageID)
            }
            #expect(waiting == ["2"])
            let unreadableKinds = try await unreadableRows(server).map { $0["kind"] }
            #expect(unreadableKinds == ["front-message"])
            let endpoint = try await context.store.write { tx in
                let application = try #require(SNSResource(arn))
                return try tx.gateway.create(application, arn: arn, token: address, EndpointAttributes())
            }
            let released = try await context.store.write { tx in try tx.gateway.delete(endpoint.arn) }
            #expect(released == address)
            #expect(try await unreadableRows(server).isEmpty)
        }
    }

    @Test("A reset removes unreadable rows too")
    func resetRemovesUnreadableRows() async throws {
        try await run(.newer, ["session", "push-device"]) { server in
            _ = try await server.registeredPhone()
            return []
        } then: { server in
            _ = try await server.admin(.get, "users")
            #expect(try await unreadableRows(server).isEmpty == false)
            #expect(try await server.admin(.post, "reset").status == 200)
            #expect(try await unreadableRows(server).isEmpty)
            _ = try await server.registeredPhone()
        }
    }
}
