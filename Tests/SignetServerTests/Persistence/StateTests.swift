import Foundation
import HTTPTypes
import SignetCore
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

/// The same cases on every kind of storage.
///
/// Those on PostgreSQL are skipped where no PostgreSQL server can be started (scripts/setup).
@Suite("Stored state of a server", .postgresServer, .serialized, .timeLimit(.minutes(5)))
struct StateTests {
    private static let past = Int64(1_000_000)

    // MARK: Rows

    @Test(
        "Rows are read, grouped, paged, counted and removed, and sweeping removes only expired rows",
        arguments: StateKind.available)
    func storesAndSweepsRows(kind: StateKind) async throws {
        try await StateLocation.with(kind) { location in
            let store = try location.rows()
            defer { store.close() }
            func write(_ rows: [String: StoredRow?], now: Int64 = 0) throws {
                try store.transact { _ throws(StoreError) in
                    var changes = RowChanges()
                    changes.now = now
                    for (name, row) in rows { changes.rows[RowKey(kind: "k", name: name)] = .some(row) }
                    return ((), changes)
                }
            }
            func read<R>(_ body: (any RowReader) throws(StoreError) -> R) throws -> R {
                try store.transact { reader throws(StoreError) in (try body(reader), RowChanges()) }
            }
            func names(_ selection: RowSelection, now: Int64 = 0, limit: Int = 100) throws -> [String] {
                try read { reader throws(StoreError) in try reader.rows("k", selection, at: now, limit: limit).map(\.name) }
            }
            let odd = "\u{1}ä 'x' \"y\" \\ %"
            let rows = [
                "a": StoredRow(group: "g", expiresAt: 10, bytes: [1]), "b": StoredRow(group: "g", expiresAt: 30, bytes: []),
                "c": StoredRow(expiresAt: 20, bytes: [0, 255]), odd: StoredRow(group: odd, bytes: [UInt8](0...255)),
            ]
            try write(rows)
            for (name, row) in rows {
                let stored = try read { reader throws(StoreError) in try reader.row(RowKey(kind: "k", name: name)) }
                #expect(stored == row)
            }
            let ofOtherKind = try read { reader throws(StoreError) in try reader.row(RowKey(kind: "other", name: "a")) }
            #expect(ofOtherKind == nil)
            #expect(try names(.group("g")) == ["a", "b"] && names(.group("g"), now: 10) == ["b"] && names(.group(odd)) == [odd])
            #expect(try names(.group("")) == [])
            #expect(
                try names(.newest) == ["b", "c", "a"] && names(.newest, now: 20) == ["b"] && names(.newest, limit: 1) == ["b"])
            #expect(try names(.after(nil)) == [odd, "a", "b", "c"] && names(.after("a"), limit: 1) == ["b"])
            let countAtTen = try read { reader throws(StoreError) in try reader.count("k", at: 10, limit: 100) }
            #expect(countAtTen == 3)
            let limitedCount = try read { reader throws(StoreError) in try reader.count("k", at: 0, limit: 2) }
            #expect(limitedCount == 2)
            // The row replaces the old one with another group, and is then removed.
            try write(["a": StoredRow(group: "h", expiresAt: 40, bytes: [2]), "b": nil, "never was": nil])
            #expect(try names(.group("g")) == [] && names(.group("h")) == ["a"])
            #expect(try names(.after(nil)) == [odd, "a", "c"])
            // Each store sweeps at its own time while other rows are written, and removes only the rows expired by then.
            #expect(try names(.after(nil), now: .min) == [odd, "a", "c"])
            let others = Dictionary(uniqueKeysWithValues: (0..<100).map { ("new \($0)", StoredRow(expiresAt: 41, bytes: [])) })
            let isSwept = try await eventually {
                try write(others, now: 20)
                return try names(.after(nil), now: .min).allSatisfy { $0 != "c" }
            }
            #expect(isSwept)
            let left = try names(.after(nil), now: .min, limit: 200)
            #expect(left == [odd, "a"] + others.keys.sorted())
        }
    }

    @Test(
        "A row of a later version, with another key or copied from another row is an error and kept",
        arguments: StateKind.available)
    func keepsUnreadableRows(kind: StateKind) async throws {
        try await StateLocation.with(kind) { location in
            let store = try location.rows()
            defer { store.close() }
            let key = RowKey(kind: "k", name: "a")
            let coder = RowCoder(StateLocation.key)
            let cases: [([UInt8], StoreError.Code)] = [
                ([3] + (try coder.bytes(of: "x", for: key)).dropFirst(), .newerFormat), ([], .corrupt),
                (try RowCoder(Secret([UInt8](repeating: 8, count: 32))).bytes(of: "x", for: key), .keyMismatch),
                (try coder.bytes(of: "x", for: RowKey(kind: "k", name: "b")), .keyMismatch), ([1, 2, 3], .keyMismatch),
                (try coder.bytes(of: 5, for: key), .corrupt),
            ]
            for (bytes, code) in cases {
                try store.transact { _ throws(StoreError) in
                    var changes = RowChanges()
                    changes.rows[key] = StoredRow(bytes: bytes)
                    return ((), changes)
                }
                try store.transact { reader throws(StoreError) in
                    let transaction = RowCache(reader, coder, PasswordMemory())
                    transaction.begin()
                    let error = #expect(throws: StoreError.self) { try transaction.value(key) as RowCache.Present<String>? }
                    #expect(error?.code == code)
                    return ((), RowChanges())
                }
            }
        }
    }

    @Test("Only the encoder of rows can encode a secret")
    func onlyRowsEncodeSecrets() throws {
        #expect(throws: (any Error).self) { try JSON.encode(["x": Secret([1, 2, 3])]) }
        #expect(throws: (any Error).self) { try JSONDecoder().decode(Secret.self, from: Data("\"AQID\"".utf8)) }
        let key = RowKey(kind: "k", name: "a")
        let coder = RowCoder(StateLocation.key)
        let bytes = try coder.bytes(of: Secret("correct horse".utf8), for: key)
        #expect(try coder.value(Secret.self, of: bytes, for: key) == Secret("correct horse".utf8))
        #expect(bytes.firstRange(of: Array("horse".utf8)) == nil)
    }

    // MARK: Restart

    @Test("A journey that is no longer configured ends as a failed login", arguments: StateKind.persistent)
    func endsUnconfiguredJourney(kind: StateKind) async throws {
        try await StateLocation.with(kind) { location in
            let clock = ManualClock()
            let kept = CarriedValues()
            try await location.server(clock: clock) { server in await kept.add(try await server.start("PushLogin").step) }
            try await location.server(clock: clock, { $0.journeys = Journeys([]) }) { server in
                let reply = try await server.next(await kept.steps[0])
                #expect(reply.status == 401 && reply.message == "Login failure")
            }
        }
    }

    /// Edits of a user's entry and the expected user, after a journey locked that user and set the password "other".
    static let edits: [(edit: @Sendable (inout User) -> Void, isLocked: Bool, password: String)] = [
        ({ _ in }, true, "other"),
        ({ $0.claims["email"] = "mira@example.test" }, true, "other"),
        ({ $0.password = Secret("new".utf8) }, true, "new"),
        ({ $0.isLocked = true }, true, "other"),
    ]

    @Test("A configured user keeps each change of a journey until the configuration of that part changes")
    func keepsJourneyChangesOfUser() async throws {
        try await StateLocation.with(.file) { location in
            let mira = UserKey(realm: .root, name: "mira")
            func found(_ configure: @escaping @Sendable (inout ServerConfiguration) -> Void) async throws -> [String] {
                let kept = CarriedValues()
                try await location.server(configure) { server in
                    let person = try await server.devServer.context.store.read { tx in try tx.directory[mira] }
                    await kept.set("locked", person.map { "\($0.isLocked)" } ?? "nobody")
                    for password in [TestServer.password, "other", "new"] {
                        let isRight = try await server.devServer.context.store.write { tx in
                            try tx.directory.accepts(Secret(password.utf8), of: mira)
                        }
                        if isRight { await kept.set("password", password) }
                    }
                }
                return [await kept["locked"], await kept["password"]]
            }
            let atFirst = try await found { _ in }
            #expect(atFirst == ["false", TestServer.password])
            try await location.server { server in
                try await server.devServer.context.store.write { tx in
                    try tx.directory.setLocked(true, mira)
                    try tx.directory.setPassword(Secret("other".utf8), of: mira)
                }
                #expect(try await server.logIn("Login").status == 401)
            }
            for (edit, isLocked, password) in Self.edits {
                let after = try await found { configuration in
                    for index in configuration.users.indices where configuration.users[index].name == "mira" {
                        edit(&configuration.users[index])
                    }
                }
                #expect(after == ["\(isLocked)", password])
            }
            let withOldEntry = try await found { _ in }
            #expect(withOldEntry == ["true", "other"], "the configured entry is the original one again")
            let withoutEntry = try await found { $0.users = [] }
            #expect(withoutEntry == ["nobody", ""])
        }
    }
}

/// The values that a test carries from one server to the next.
actor CarriedValues {
    private var texts: [String: String] = [:]
    private(set) var steps: [JourneyStep] = []

    subscript(name: String) -> String { texts[name] ?? "" }
    func set(_ name: String, _ text: String) { texts[name] = text }
    func add(_ step: JourneyStep) { steps.append(step) }
}
