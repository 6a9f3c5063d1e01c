import Foundation
import SignetCore
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Rows of earlier versions", .timeLimit(.minutes(5)))
struct FrozenRowTests {
    static let files = RowCoder.Version.allCases.flatMap { version in FrozenRows.names(version).map { (version, $0) } }
    private static let coder = RowCoder(Sealing.derive("signet server rows", from: FrozenRows.key))

    @Test("Every version of the row format has frozen rows of every kind")
    func everyKindIsFrozen() throws {
        for version in RowCoder.Version.allCases {
            #expect(!FrozenRows.names(version).isEmpty, "version \(version.rawValue)")
        }
        let newest = try FrozenRows.names(.newest).flatMap { try FrozenRows($0, of: .newest).rows.map(\.key.kind) }
        for kind in RowKind.allCases.map(\.rawValue) {
            #expect(newest.contains(kind), "no row of the kind \(kind) is frozen: see FrozenRows")
        }
    }

    @Test("A frozen row is read as the value of its kind, and writing it again gives the same content", arguments: files)
    func rewritesFrozenRow(version: RowCoder.Version, name: String) throws {
        for (key, row) in try FrozenRows(name, of: version).rows {
            #expect(row.bytes.first == version.rawValue)
            let kind = try #require(RowKind(rawValue: key.kind))
            guard let type = kind.valueType else { continue }
            let plain = try JSON.value(of: try Self.coder.plain(row.bytes, key))
            let again = try Self.again(type, row.bytes, key)
            guard version == .newest else { continue }
            #expect(try JSON.value(of: try Self.coder.plain(again, key)).sorted == plain.sorted, "\(key.kind)")
        }
    }

    private static func again<Value: RowValue>(_ type: Value.Type, _ bytes: [UInt8], _ key: RowKey) throws -> [UInt8] {
        try coder.bytes(of: try coder.value(type, of: bytes, for: key), for: key)
    }

    @Test("S16: A frozen device for codes has no drift, and a drift is kept in its row", arguments: files)
    func driftIsOptional(version: RowCoder.Version, name: String) throws {
        for (key, row) in try FrozenRows(name, of: version).rows where key.kind == RowKind.oathDevice.rawValue {
            var device = try Self.coder.value(OATHDevice.self, of: row.bytes, for: key)
            #expect(device.verifier.drift == 0)
            let settings = device.verifier.settings
            guard case .time(let period) = settings.factor else { continue }
            let now = Date(timeIntervalSince1970: 4_102_444_800)
            let code = settings.code(at: now.addingTimeInterval(-2 * Double(period.seconds))).digits
            #expect(device.verifier.verify(code, at: now) == .accepted)
            let again = try Self.coder.value(OATHDevice.self, of: try Self.coder.bytes(of: device, for: key), for: key)
            #expect(again == device && again.verifier.drift == -2)
        }
    }

    @Test("A frozen device for codes has no name of the user, and a name is kept in its row", arguments: files)
    func nameOfDeviceIsOptional(version: RowCoder.Version, name: String) throws {
        for (key, row) in try FrozenRows(name, of: version).rows where key.kind == RowKind.oathDevice.rawValue {
            var device = try Self.coder.value(OATHDevice.self, of: row.bytes, for: key)
            #expect(device.name == nil)
            device.name = "Work phone"
            let again = try Self.coder.value(OATHDevice.self, of: try Self.coder.bytes(of: device, for: key), for: key)
            #expect(again == device && again.name == "Work phone")
        }
    }

    @Test("A server with frozen rows continues with their sessions, tokens and devices", arguments: RowCoder.Version.allCases)
    func serverContinuesWithFrozenRows(version: RowCoder.Version) async throws {
        // The first file of a version has the rows that the known values are of. A later one has only rows of new kinds, or with
        // new properties.
        let all = try FrozenRows.names(version).map { try FrozenRows($0, of: version) }
        let first = all.first { file in file.rows.contains { $0.key.kind == RowKind.registration.rawValue } }
        let known = try #require(first).known
        try await Self.run(version) { server in
            #expect(try await server.isValid(known.session))
            #expect(server.devServer.clock.offset == 7)
            #expect(try await server.userInfo(known.access).json["sub"] == "mira")
            let refreshed = try await server.refresh(known.refresh)
            #expect(refreshed.status == 200)
            #expect(try await server.claims(try #require(refreshed.json["id_token"]?.string))["sub"] == "mira")
            #expect(try await server.exchange(known.code).status == 200)
            #expect(try await server.logIn("Login", name: "kim", password: "frozen").isLoggedIn)
            let pushes = try await server.inbox(known.device)
            #expect(pushes.count == 1 && pushes.first?.state == .waiting)
            #expect(try await server.devServer.emailLinks(to: "noa").count == 1)
            let user = UserKey(realm: .root, name: "mira")
            let devices = try await server.devServer.context.store.read { tx in
                try DeviceKind.allCases.flatMap { try tx.devices.descriptions($0, of: user) }.count
            }
            #expect(devices == 3)
            // All of it can also be stored in a snapshot and restored.
            let snapshot = try await server.devServer.snapshot()
            try await server.devServer.restore(snapshot)
            #expect(try await server.isValid(known.session))
            #expect(try await server.devServer.context.store.queue.unreadableRows.entries.isEmpty)
        }
    }

    /// Runs a server on a file with all frozen rows of a version.
    private static func run(
        _ version: RowCoder.Version, _ configure: (inout ServerConfiguration) -> Void = { _ in },
        _ body: @Sendable (TestServer) async throws -> Void
    ) async throws {
        let all = try FrozenRows.names(version).map { try FrozenRows($0, of: version) }
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let location = ServerState.file(directory.file("state/server.sqlite"), key: FrozenRows.key)
        let store = try SignetServer.StateLocation.open(location).0
        try FrozenRows(rows: all.flatMap(\.rows), known: try #require(all.first).known).put(into: store)
        store.close()
        let configuration = ServerConfiguration.sample {
            $0.signingKey = nil
            $0.state = location
            configure(&$0)
        }
        try await TestServer.run(configuration, body)
    }

    @Test("A server with a frozen grant continues with the tokens that are stored in it, and refuses their code")
    func continuesWithFirstTokens() async throws {
        let known = try FrozenRows("first-tokens.json", of: .two).known
        try await Self.run(.two) { server in
            let subject = try await server.userInfo(known.access).json["sub"]
            #expect(subject == "mira")
            let refreshed = try await server.refresh(known.refresh).status
            #expect(refreshed == 200)
            let exchanged = try await server.exchange(known.code).status
            #expect(exchanged == 400)
            // The code was presented again, so the tokens are revoked.
            let revoked = try await server.userInfo(known.access).status
            #expect(revoked == 401)
        }
    }

    @Test("A frozen email has its text, link, code and delivery, and a server lists it")
    func readsFrozenEmails() async throws {
        let recipient = EmailKey(UserKey(realm: .root, name: "kim"))
        let frozen = try FrozenRows("email-messages.json", of: .two).rows.first { $0.key.name == recipient.rowName }
        let (key, row) = try #require(frozen)
        let emails = try Self.coder.value(SentEmails.Emails.self, of: row.bytes, for: key)
        let link = "https://login.example.test/?suspendedId=frozen"
        #expect(emails.links == [link])
        let messages = try #require(emails.messages)
        #expect(messages.map(\.link) == [link, nil] && messages.map(\.code) == [nil, "123456"])
        #expect(messages.map(\.delivery) == [.delivered, .failed("refused")])
        let areComplete = messages.allSatisfy { message in
            message.to == "kim@example.test" && !message.subject.isEmpty && message.html.contains("<h1>")
                && message.text.contains(message.link ?? "123456")
        }
        #expect(areComplete)
        try await Self.run(.two) { server in
            let listed = try await server.devServer.context.store.read { tx in try tx.emails.entries(of: recipient) }
            #expect(listed.compactMap(\.message) == messages)
        }
    }

    // MARK: Clients of a session, and requested claims

    /// The file with a login of a client that requested claims and is informed of the end of its session.
    private static let sessionClients = "session-clients.json"

    @Test("A frozen session names its clients, and a frozen grant the requested claims and its session")
    func readsClientsAndClaims() throws {
        let claims = try ClaimsRequest(
            """
            {"userinfo": {"email": {"essential": true}, "department": {"values": ["Lab", 7, true]}},
             "id_token": {"acr": {"essential": true, "values": ["Login"]}, "email": null}}
            """)
        let clients: Set = [ClientKey(realm: .root, id: "app"), ClientKey(realm: .root, id: "other")]
        var kinds: [String] = []
        for (key, row) in try FrozenRows(Self.sessionClients, of: .one).rows {
            kinds.append(key.kind)
            if key.kind == RowKind.session.rawValue {
                let session = try Self.coder.value(SSOSession.self, of: row.bytes, for: key)
                #expect(session.relyingParties == clients)
            } else if key.kind == RowKind.grant.rawValue {
                let grant = try Self.coder.value(Grant.self, of: row.bytes, for: key)
                #expect(grant.claims == claims && row.group == grant.session.text)
            }
        }
        #expect(kinds == ["access-token", "code", "grant", "refresh-token", "session"])
    }

    @Test("A server with a frozen login continues with its claims, and informs its client of the end of the session")
    func continuesLoginWithClaims() async throws {
        let known = try FrozenRows(Self.sessionClients, of: .one).known
        let configure = { (configuration: inout ServerConfiguration) in
            configuration.users[0].claims = ["email": "mira@example.test"]
            // Nothing listens there, so the logout token waits.
            configuration.clients[0].backchannelLogoutURI = "http://127.0.0.1:9/logout"
        }
        try await Self.run(.one, configure) { server in
            #expect(try await server.userInfo(known.access).json["email"] == "mira@example.test")
            let renewed = try Tokens(try await server.refresh(known.refresh))
            #expect(try await server.claims(try #require(renewed.id))["email"] == "mira@example.test")
            let ended = try await server.sessionAction("logout", ["iPlanetDirectoryPro": known.session])
            #expect(ended.status == 200)
            let waiting = try await server.devServer.context.store.read { tx in
                try tx.logouts.all().map { $0.session.text }
            }
            #expect(waiting.contains(TokenHash(known.session).text))
            #expect(try await server.userInfo(known.access).status == 401)
            #expect(try await server.refresh(try #require(renewed.refresh)).error == "invalid_grant")
            #expect(try await server.exchange(known.code).error == "invalid_grant")
        }
    }

    @Test("A row of a later version is distinguished from a damaged row")
    func distinguishesNewerFromDamagedRows() throws {
        let key = RowKey(kind: "nonce", name: "a")
        let good = try Self.coder.bytes(of: true, for: key)
        #expect(good.first == RowCoder.Version.newest.rawValue)
        let cases: [([UInt8], StoreError.Code)] = [
            ([UInt8.max] + good.dropFirst(), .newerFormat), ([RowCoder.Version.newest.rawValue + 1], .newerFormat),
            ([0] + good.dropFirst(), .corrupt), ([], .corrupt), ([1], .keyMismatch),
            (good.dropLast() + [good[good.count - 1] ^ 1], .keyMismatch),
        ]
        for (bytes, code) in cases {
            let error = #expect(throws: StoreError.self) { try Self.coder.value(Bool.self, of: bytes, for: key) }
            #expect(error?.code == code, "\(bytes.prefix(2))")
        }
    }

    @Test("Rows that are not frozen yet are written on request", .enabled(if: name != nil, "SIGNET_FREEZE_ROWS enables it"))
    func writesUnfrozenRows() async throws {
        let name = try #require(Self.name)
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let configuration = ServerConfiguration.sample {
            $0.signingKey = nil
            $0.state = .file(directory.file("state/server.sqlite"), key: FrozenRows.key)
            $0.clients[0].backchannelLogoutURI = "http://127.0.0.1:9/logout"
        }
        let made = Made()
        try await TestServer.run(configuration) { server in await made.set(try await FrozenRows.made(by: server)) }
        let store = try SignetServer.StateLocation.open(configuration.state).0
        defer { store.close() }
        let frozen = try FrozenRows.names(.newest).flatMap { try FrozenRows($0, of: .newest).rows.map(\.key.kind) }
        let rows = try FrozenRows.all(in: store).filter {
            !frozen.contains($0.key.kind) || Self.kinds.contains($0.key.kind)
        }
        let known = try #require(await made.known)
        let file = FrozenRows.folder.appending(path: "v\(RowCoder.Version.newest.rawValue)/\(name).json")
        try FrozenRows(rows: rows, known: known).write(to: file)
    }

    private static let name = ProcessInfo.processInfo.environment["SIGNET_FREEZE_ROWS"]
    /// The kinds of rows that are written although there are frozen ones.
    private static let kinds = Set(
        (ProcessInfo.processInfo.environment["SIGNET_FREEZE_KINDS"] ?? "").split(separator: ",").map(String.init))

    private actor Made {
        private(set) var known: FrozenRows.Known?
        func set(_ known: FrozenRows.Known) { self.known = known }
    }
}

extension JSONValue {
    /// The same value with every array sorted by its content: sets have no order, nor have dictionaries, which are arrays when their
    /// keys are not strings.
    fileprivate var sorted: JSONValue {
        switch self {
        case .array(let values):
            return .array(values.map(\.sorted).sorted { JSON.encode($0).lexicographicallyPrecedes(JSON.encode($1)) })
        case .object(let members): return .object(members.mapValues(\.sorted))
        default: return self
        }
    }
}
