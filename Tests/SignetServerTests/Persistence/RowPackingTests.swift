import Foundation
import SignetCore
import SignetStorage
import Testing

@testable import SignetServer

@Suite("The compact form of rows")
struct RowPackingTests {
    private static let hash = TokenHash("token").text

    @Test(
        "JSON is the same after it was packed and unpacked",
        arguments: [
            "", "{}", "[]", "null", "\"\"", "7", "-7", "1234567890", "-1234567890", "01234567890", "9223372036854775807",
            "9223372036854775808", "817365975.123456", "817365975.1234560", "1e300", "1.5e-10", "12345678901234567890.5",
            "-0.000000001",
            #"{"text":"\#(hash)"}"#, #"["\#(hash)","\#(hash)x","\#(hash.dropLast())","\#(hash.dropLast())_"]"#,
            #"{"authenticatedAt":817365975.123456,"end":817373175,"login":1795673175123456,"trees":["Login"]}"#,
            #"{"name":"a \"quoted\\\\ name, \"scopes\":[ in it","realm":{"names":["alpha"]}}"#,
            #"{"ü":"\u0001 é 日本 😀","x":[true,false,null]}"#,
            #"{"unterminated":"x"#, #"{"unterminated":"\\"#, "{\n  \"spaced\": [1, 2]\n}", "\u{0}\u{1}\u{5}",
        ])
    func packsAndUnpacks(text: String) {
        let json = Array(text.utf8)
        #expect(RowPacking.unpack(RowPacking.pack(json)) == json)
    }

    @Test("Every frozen row is the same after it was packed and unpacked, and not longer", arguments: FrozenRowTests.files)
    func packsFrozenRows(version: RowCoder.Version, name: String) throws {
        let coder = RowCoder(Sealing.derive("signet server rows", from: FrozenRows.key))
        for (key, row) in try FrozenRows(name, of: version).rows {
            let json = try coder.plain(row.bytes, key)
            let packed = RowPacking.pack(json)
            #expect(RowPacking.unpack(packed) == json && packed.count <= json.count, "\(key.kind)")
        }
    }

    @Test("Random bytes are the same after they were packed and unpacked")
    func packsRandomBytes() {
        for length in 1..<300 {
            let bytes = RandomID.bytes(length)
            let printable = bytes.map { 0x20 + $0 % 0x5F }
            #expect(RowPacking.unpack(RowPacking.pack(bytes)) == bytes)
            #expect(RowPacking.unpack(RowPacking.pack(printable)) == printable)
        }
    }

    @Test(
        "Bytes that `pack` does not make are refused",
        arguments: [[1], [1] + [UInt8](repeating: 7, count: 31), [2, 0], [3, 1, 2, 3, 4, 5, 6, 7], [4], [4, 255], [0x7B, 0]])
    func refusesOtherBytes(bytes: [UInt8]) {
        #expect(RowPacking.unpack(bytes) == nil)
    }

    private static let head = String(hash.dropLast())

    /// A text, and the length of its packed form.
    static let texts: [(text: String, length: Int)] = [
        (hash, 33), ("\(head)B", 45), ("\(head)+", 45), ("\(hash)A", 46), (head, 44),
        (String(repeating: "A", count: 43), 33), (String(repeating: "/", count: 43), 45),
    ]

    @Test("Only the base64url that 32 bytes are written as is packed as a hash", arguments: texts)
    func packsHashes(text: String, length: Int) {
        let json = Array("\"\(text)\"".utf8)
        let packed = RowPacking.pack(json)
        #expect(packed.count == length && RowPacking.unpack(packed) == json)
    }

    @Test("A hash has 33 bytes, and a session less than half of its JSON")
    func isShort() throws {
        #expect(RowPacking.pack(Array("\"\(Self.hash)\"".utf8)).count == 33)
        var session = SSOSession(
            user: UserKey(realm: .root, name: "mira"), startedAt: Date(timeIntervalSinceReferenceDate: 817_365_975.123456),
            authenticatedAt: Date(timeIntervalSinceReferenceDate: 817_365_975.123456),
            lastAccess: Date(timeIntervalSinceReferenceDate: 817_365_975.123456), trees: ["Login"],
            end: Date(timeIntervalSinceReferenceDate: 817_373_175.123456), idleTime: 1800)
        session.login = 1_795_673_175_123_456
        let (key, coder) = (RowKey(.session, "x"), RowCoder(Secret.random(byteCount: 32)))
        let sealed = try coder.bytes(of: session, for: key)
        let json = try coder.plain(sealed, key)
        #expect(sealed.count - 29 < json.count / 2, "\(sealed.count) of \(json.count)")
        #expect(try coder.value(SSOSession.self, of: sealed, for: key) == session)
    }

    @Test("Rows of version 1 are read, and a row of a later version is left as it is")
    func readsVersionOne() throws {
        let (key, secret) = (RowKey(.session, "x"), Secret.random(byteCount: 32))
        let coder = RowCoder(secret)
        let context = Array("session".utf8) + [0] + Array("x".utf8)
        let old = try Sealing.seal(Array("\"text\"".utf8), with: secret, context: context, behind: [1])
        #expect(try coder.value(String.self, of: old, for: key) == "text")
        let later = try Sealing.seal(Array("\"text\"".utf8), with: secret, context: context, behind: [3])
        #expect(throws: StoreError.self) { try coder.value(String.self, of: later, for: key) }
    }
}
