import Foundation
import HTTPTypes
import SignetCore
import SignetPushGateway
import SignetStorage
import TestSupport
import Testing

@testable import SignetServer

/// Rows as a server wrote them, sealed with a public test key.
///
/// They are never regenerated, because a server must be able to continue with a state that has such rows. For a new kind of row
/// or a new version of the format, `SIGNET_FREEZE_ROWS=NAME swift test --filter FrozenRowTests/writesUnfrozenRows` writes what is
/// not frozen yet to `Fixtures/vN/NAME.json`. A file can also have rows of known kinds with properties that are new in it:
/// `SIGNET_FREEZE_KINDS` names these kinds, with commas between them.
struct FrozenRows: Sendable {
    /// The plain values to ask a server with these rows for.
    struct Known: Sendable {
        let session: String
        let code: String
        let access: String
        let refresh: String
        let device: String

        fileprivate var json: JSONValue {
            .object([
                "session": .string(session), "code": .string(code), "access": .string(access), "refresh": .string(refresh),
                "device": .string(device),
            ])
        }
    }

    /// The key that seals all the rows.
    static let key = Secret([UInt8](repeating: 0x53, count: 32))
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(
        path: "Fixtures")

    let rows: [(key: RowKey, row: StoredRow)]
    let known: Known

    /// The names of the files of a version.
    static func names(_ version: RowCoder.Version) -> [String] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "v\(version.rawValue)").path)
        return (names ?? []).filter { $0.hasSuffix(".json") }.sorted()
    }

    init(rows: [(key: RowKey, row: StoredRow)], known: Known) {
        self.rows = rows
        self.known = known
    }

    init(_ name: String, of version: RowCoder.Version) throws {
        let text = try Data(contentsOf: Self.folder.appending(path: "v\(version.rawValue)/\(name)"))
        let value = try JSON.value(of: text)
        let expected = try #require(value["known"])
        known = Known(
            session: try #require(expected["session"]?.string), code: try #require(expected["code"]?.string),
            access: try #require(expected["access"]?.string), refresh: try #require(expected["refresh"]?.string),
            device: try #require(expected["device"]?.string))
        rows = try #require(value["rows"]?.array).map { row in
            let members = try #require(row.array)
            let bytes = try Base64.decode(try #require(members[4].string))
            let end = try #require(members[3].lenientInteger)
            let key = RowKey(kind: try #require(members[0].string), name: try #require(members[1].string))
            return (key, StoredRow(group: try #require(members[2].string), expiresAt: end, bytes: bytes))
        }
    }

    func write(to file: URL) throws {
        let text = rows.map { key, row in
            "    "
                + JSON.text(
                    of: JSONValue.array([
                        .string(key.kind), .string(key.name), .string(row.group), .integer(row.expiresAt),
                        .string(Base64.encode(row.bytes, as: .url)),
                    ]))
        }.joined(separator: ",\n")
        let known = JSON.text(of: known.json)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("{\n  \"known\": \(known),\n  \"rows\": [\n\(text)\n  ]\n}\n".utf8).write(to: file, options: .withoutOverwriting)
    }

    /// Writes the rows to an empty store.
    func put(into store: any RowStore) throws {
        try store.transact { _ throws(StoreError) in
            var changes = RowChanges()
            for (key, row) in rows { changes.rows[key] = row }
            changes.now = .min
            return ((), changes)
        }
    }

    /// Returns every row of a state.
    static func all(in store: any RowStore) throws -> [(key: RowKey, row: StoredRow)] {
        try store.transact { reader throws(StoreError) in
            var rows: [(key: RowKey, row: StoredRow)] = []
            for kind in RowKind.allCases.map(\.rawValue) {
                rows += try reader.rows(kind, .after(nil), at: .min, limit: 1000).map {
                    (RowKey(kind: kind, name: $0.name), $0.row)
                }
            }
            return (rows, RowChanges())
        }
    }

    // MARK: Creation

    /// Makes a row of every kind on a server.
    static func made(by server: TestServer) async throws -> Known {
        let session = try await server.session()
        let claims: [String: String?] = ["claims": #"{"userinfo":{"email":{"values":["a","b"]}},"id_token":{"email":null}}"#]
        // The first tokens are in the row of their grant, and the next ones have rows.
        let first = try Tokens(try await server.exchange(try await server.code(session, claims)))
        let tokens = try Tokens(try await server.refresh(try #require(first.refresh)))
        let code = try await server.code(session, claims)
        let phone = try await server.registeredPhone()
        _ = try await server.waitingLogin(phone: phone)
        _ = try await server.devServer.consoleLink()
        _ = try await server.postForm("device/code", ["client_id": "app", "scope": "openid"])
        _ = try await server.pushed()
        _ = try await server.start("Login")
        _ = try await server.logIn("PushRegistration", name: "noa", password: "staple")
        var email = try await server.start("EmailLogin").step
        email.fill("NameCallback", "noa")
        _ = try await server.next(email)
        _ = try await server.send(.get, "/am/XUI/?realm=/&authIndexType=service&authIndexValue=Login", headers: [:])
        try await server.devServer.context.change(clock: .move(7))
        try await server.devServer.context.store.write { tx in try fill(&tx, tx.time) }
        return Known(
            session: session, code: code, access: tokens.access, refresh: try #require(tokens.refresh), device: phone.uid)
    }

    /// Adds the rows that would need many requests or another server.
    private static func fill(_ state: inout ServerTransaction, _ time: RequestTime) throws {
        let (mira, noa) = (UserKey(realm: .root, name: "mira"), UserKey(realm: .root, name: "noa"))
        let kim = UserKey(realm: .root, name: "kim")
        if try !state.directory.contains(kim) {
            _ = try state.directory.add(kim, password: Secret("frozen".utf8), claims: ["email": "kim@example.test"])
        }
        try state.directory.keep(["Favourite color?": Secret("Blue".utf8)], of: noa)
        try state.directory.acceptTerms("7", noa)
        _ = state.backchannelRequests.add(
            BackchannelRequest(
                client: ClientKey(realm: .root, id: "web"), user: noa, generation: nil, scopes: ["openid"], messageID: "approval",
                expiresAt: time.now.addingTimeInterval(600), interval: 5))
        _ = try state.usedIDs.use(
            "1", of: .clientAssertion, by: ClientKey(realm: .root, id: "app"), until: time.now.addingTimeInterval(600))
        try state.consents.save(["openid", "profile"], by: ClientKey(realm: .root, id: "asking"), of: mira)
        state.devices.save(EnrollmentStyle().newOATHDevice(), for: mira)
        try state.devices.keep(RecoveryCodes.new(for: .oath, "OATH Device"), for: .oath, of: mira)
        try state.devices.save(
            OtherDevice(
                kind: .binding, resourceID: "device-1", name: "Tablet", registeredAt: time.now, lastUsedAt: time.now,
                details: ["deviceId": "tablet", "number": .integer(7), "list": .array([.bool(true), .null])],
                key: .es256(point: [UInt8](repeating: 4, count: 65))),
            for: mira)
        let recipient = EmailRecipient(user: kim, exists: true, address: "kim@example.test")
        for content in [
            EmailContent.link("https://login.example.test/?suspendedId=frozen", issuer: "Signet", in: .english),
            .code("123456", issuer: "Signet", in: .english),
        ] {
            let email = SentEmail(content, to: recipient, at: time.now)
            try state.emails.keep(email, for: recipient)
            try state.emails.complete(
                email.id, of: EmailKey(recipient), content.code == nil ? .delivered : .failed("refused"))
        }
        _ = try state.guesses.take(noa, RateLimit(perMinute: 6, burst: 3))
        _ = try state.lockouts.fail(noa, Lockout(failures: 1, within: 60, duration: 600))
        _ = try state.nonces.redeem(try state.nonces.issue())
        let device = try #require(try state.devices.pushDevice(of: mira))
        let push = PushMessageRecord(PushPrompt(kind: .number(choices: [11, 22, 33]), text: "Hello"), to: device, time)
        let end = time.now.addingTimeInterval(600)
        var dispatch = PushDispatch(push, text: "Hello", endpoint: "arn:aws:sns:e:1:endpoint/GCM/a/b", token: "token", until: end)
        dispatch.claim = DispatchClaim(holder: "holder", end: end)
        state.dispatches.store(dispatch)
        let arn = "arn:aws:sns:eu-west-1:123456789012:app/GCM/signet"
        let application = try #require(SNSResource(arn))
        _ = try state.gateway.create(application, arn: arn, token: "signet-mailbox-frozen", EndpointAttributes())
        try state.gateway.add(PushDelivery(messageId: "1", message: "a.b.c"), to: "signet-mailbox-frozen")
        state.logouts.store(
            LogoutDelivery(
                id: "logout-1", client: ClientKey(realm: .root, id: "app"), user: mira, session: TokenHash("session"),
                deadline: end,
                nextAttempt: time.now, failures: 1, claim: DispatchClaim(holder: "holder", end: end)))
    }
}
