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

    @Test("A server with frozen rows continues with their sessions, tokens and devices", arguments: files)
    func serverContinuesWithFrozenRows(version: RowCoder.Version, name: String) async throws {
        let frozen = try FrozenRows(name, of: version)
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let location = ServerState.file(directory.file("state/server.sqlite"), key: FrozenRows.key)
        let store = try SignetServer.StateLocation.open(location).0
        try frozen.put(into: store)
        store.close()
        let configuration = ServerConfiguration.sample {
            $0.signingKey = nil
            $0.state = location
        }
        try await TestServer.run(configuration) { server in
            let known = frozen.known
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
        }
        let made = Made()
        try await TestServer.run(configuration) { server in await made.set(try await FrozenRows.made(by: server)) }
        let store = try SignetServer.StateLocation.open(configuration.state).0
        defer { store.close() }
        let frozen = try FrozenRows.names(.newest).flatMap { try FrozenRows($0, of: .newest).rows.map(\.key.kind) }
        let rows = try FrozenRows.all(in: store).filter { !frozen.contains($0.key.kind) }
        let known = try #require(await made.known)
        let file = FrozenRows.folder.appending(path: "v\(RowCoder.Version.newest.rawValue)/\(name).json")
        try FrozenRows(rows: rows, known: known).write(to: file)
    }

    private static let name = ProcessInfo.processInfo.environment["SIGNET_FREEZE_ROWS"]

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
