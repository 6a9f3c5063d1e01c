import Crypto
import Foundation
import SignetCore
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@testable import SignetJourney

@Suite("The records of passkeys")
struct PasskeyRecordTests {
    /// A record of version 1 that a program in another language wrote.
    private struct Frozen {
        let id: [UInt8]
        let record: [UInt8]
        let publicKey: [UInt8]
        let cose: [UInt8]

        init(_ json: JSONValue) throws {
            func bytes(_ name: String) throws -> [UInt8] { try Base64.decode(try #require(json[name]?.string)) }
            id = try bytes("id")
            record = Array(try #require(json["record"]?.string).utf8)
            publicKey = try bytes("publicKey")
            cose = try bytes("cose")
        }

        var key: RecordKey { RecordKey(.item, "signet", "passkey", Base64.encode(id, as: .url)) }
    }

    private static let list = RecordKey(.item, "signet", "passkeys")

    private static func frozen() throws -> (list: [UInt8], records: [Frozen]) {
        let file = try #require(Bundle.module.url(forResource: "Vectors/passkeys", withExtension: "json"))
        let json = try JSON.value(of: Data(contentsOf: file))
        let list = Array(try #require(json["list"]?.string).utf8)
        return (list, try (json["records"]?.array ?? []).map { try Frozen($0) })
    }

    private static func withVault(
        in store: any RecordStore = MemoryStore(), _ body: (Vault) async throws -> Void
    ) async throws {
        try await TemporaryDirectory.with { directory in
            let vault = try Vault.create(in: store, protector: KeyFile.create(path: directory.file("key")))
            let (list, records) = try frozen()
            try vault.write { (writer: any RecordWriter) throws(StoreError) in
                try writer.put(list, Self.list)
                for record in records { try writer.put(record.record, record.key) }
            }
            try await body(vault)
        }
    }

    private static func read(_ key: RecordKey, in vault: Vault) throws -> [UInt8]? {
        try vault.read { (records: any RecordReader) throws(StoreError) in try records.record(key) }
    }

    private static func put(_ text: String, _ key: RecordKey, in vault: Vault) throws {
        try vault.write { (records: any RecordWriter) throws(StoreError) in try records.put(Array(text.utf8), key) }
    }

    private static func code<Value>(of body: () async throws -> Value) async -> StoreError.Code? {
        do {
            _ = try await body()
            return nil
        } catch {
            return (error as? StoreError)?.code
        }
    }

    @Test("The frozen records of version 1 are read, and their bytes are those that this version writes")
    func readsFrozenRecords() async throws {
        let (_, records) = try Self.frozen()
        #expect(records.count == 2)
        for record in records {
            let stored = try StoredPasskey(record.record)
            #expect(stored.bytes == record.record)
            #expect(stored.key.publicKey == record.cose)
            #expect(stored.passkey.id == record.id && stored.passkey.userID == Array("mira".utf8))
            #expect(stored.passkey.displayName == "Mira Höfling" && stored.passkey.relyingPartyName == "Example")
            #expect(stored.passkey.createdAt == Date(timeIntervalSinceReferenceDate: 757_382_400.5))
        }
        let counts = try records.map { try StoredPasskey($0.record).passkey.signatureCount }
        #expect(counts == [7, 0])
    }

    @Test("A frozen passkey signs, and its record keeps what this version does not know")
    func signsWithFrozenPasskey() async throws {
        try await Self.withVault { vault in
            let (_, records) = try Self.frozen()
            for record in records {
                let signed = try await VaultPasskeys(vault).authenticate(PasskeyRequest.authentication(allowed: [record.id]))
                let bytes = Data(signed.authenticatorData + Array(SHA256.hash(data: signed.clientDataJSON)))
                let isValid =
                    record.publicKey.count == 65
                    ? try P256.Signing.PublicKey(x963Representation: record.publicKey).isValidSignature(
                        P256.Signing.ECDSASignature(derRepresentation: signed.signature), for: bytes)
                    : try Curve25519.Signing.PublicKey(rawRepresentation: record.publicKey).isValidSignature(
                        signed.signature, for: bytes)
                #expect(isValid)
            }
            let kept = try #require(try Self.read(records[0].key, in: vault))
            let json = try JSON.value(of: kept)
            #expect(json["later"]?["kept"] == .bool(true) && json["signatures"] == .integer(8))
            #expect(try Self.read(Self.list, in: vault) == Self.frozen().list)
        }
    }

    @Test("A removed passkey leaves no record, and removing it again reports that there was none")
    func removes() async throws {
        try await Self.withVault { vault in
            let (_, records) = try Self.frozen()
            let store = PasskeyStore(vault)
            let removals = [try await store.remove(records[0].id), try await store.remove(records[0].id)]
            #expect(removals == [true, false])
            #expect(try Self.read(records[0].key, in: vault) == nil)
            let left = try await store.entries().map(\.id)
            #expect(left == [records[1].id])
        }
    }

    @Test(
        "A damaged record costs only its own passkey, is listed, and can be removed",
        arguments: [
            "", "{}", "[]", #"{"version":1}"#, #"{"version":"1"}"#,
            #"{"version":1,"id":"AA","relyingParty":"example.com","userID":"","userName":"","algorithm":-7,"createdAt":1,"signatures":0,"key":"AA"}"#,
        ])
    func toleratesDamagedRecord(text: String) async throws {
        try await Self.withVault { vault in
            let (_, records) = try Self.frozen()
            try Self.put(text, records[0].key, in: vault)
            let signed = try await VaultPasskeys(vault).authenticate(PasskeyRequest.authentication())
            #expect(signed.credentialID == records[1].id)
            let request = try PasskeyRequest.authentication(allowed: [records[0].id])
            let code = await Self.code { try await VaultPasskeys(vault).authenticate(request) }
            #expect(code == .corrupt)
            let listed = try await PasskeyStore(vault).entries()
            let codes = listed.map { if case .failure(let error) = $0.passkey { error.code } else { nil as StoreError.Code? } }
            #expect(codes == [.corrupt, nil] && listed[0].relyingPartyID == "example.com")
            #expect(try Self.read(records[0].key, in: vault) == Array(text.utf8))
            #expect(try await PasskeyStore(vault).remove(records[0].id))
        }
    }

    @Test("A record under the name of another passkey is damaged")
    func refusesExchangedRecord() async throws {
        try await Self.withVault { vault in
            let (_, records) = try Self.frozen()
            try Self.put(String(decoding: records[1].record, as: UTF8.self), records[0].key, in: vault)
            let request = try PasskeyRequest.authentication(allowed: [records[0].id])
            let code = await Self.code { try await VaultPasskeys(vault).authenticate(request) }
            #expect(code == .corrupt)
        }
    }

    @Test("Records and lists of a later version are refused and not changed", arguments: [true, false])
    func refusesLaterVersion(isList: Bool) async throws {
        try await Self.withVault { vault in
            let (_, records) = try Self.frozen()
            let key = isList ? Self.list : records[0].key
            try Self.put(#"{"version":2}"#, key, in: vault)
            let request = try PasskeyRequest.authentication(allowed: [records[0].id])
            let code = await Self.code { try await VaultPasskeys(vault).authenticate(request) }
            #expect(code == .newerFormat)
            guard isList else { return }
            let made = await Self.code { try await VaultPasskeys(vault).register(PasskeyRequest.registration()) }
            #expect(made == .newerFormat)
            #expect(try Self.read(key, in: vault) == Array(#"{"version":2}"#.utf8))
        }
    }

    @Test(
        "A damaged list is an error, and never an empty one",
        arguments: ["", "{}", #"{"version":1}"#, #"{"version":1,"passkeys":[{"id":"AA"}]}"#])
    func refusesDamagedPasskeyList(text: String) async throws {
        try await Self.withVault { vault in
            try Self.put(text, Self.list, in: vault)
            let codes = [
                await Self.code { try await PasskeyStore(vault).entries() },
                await Self.code { try await VaultPasskeys(vault).authenticate(PasskeyRequest.authentication()) },
                await Self.code { try await VaultPasskeys(vault).register(PasskeyRequest.registration()) },
                await Self.code { try await PasskeyStore(vault).remove([1]) },
            ]
            #expect(codes == [.corrupt, .corrupt, .corrupt, .corrupt])
        }
    }

    @Test("A vault that cannot be read is an error of its own, and the server is told UnknownError")
    func reportsLockedVault() async throws {
        let store = FaultyStore(MemoryStore())
        try await Self.withVault(in: store) { vault in
            store.inject(StoreFault(.keyUnavailable, at: .begin))
            let code = await Self.code { try await VaultPasskeys(vault).authenticate(PasskeyRequest.authentication()) }
            #expect(code == .keyUnavailable)
        }
    }

    @Test("A counter at its end signs no more")
    func endsAtHighestCounter() async throws {
        try await Self.withVault { vault in
            let (_, records) = try Self.frozen()
            let text = String(decoding: records[0].record, as: UTF8.self)
            try Self.put(text.replacing(#""signatures":7"#, with: #""signatures":4294967295"#), records[0].key, in: vault)
            let request = try PasskeyRequest.authentication(allowed: [records[0].id])
            await #expect(throws: WebAuthnError.self) { try await VaultPasskeys(vault).authenticate(request) }
        }
    }

    @Test(
        "The origin of a server is that of its pages, with localhost for a loopback address",
        arguments: [
            ("https://am.example.com/am", "https://am.example.com", "am.example.com"),
            ("https://AM.example.com:443/am", "https://am.example.com", "am.example.com"),
            ("https://am.example.com:8443/am", "https://am.example.com:8443", "am.example.com"),
            ("http://127.0.0.1:8080/am", "http://localhost:8080", "localhost"),
            ("http://localhost:80/am", "http://localhost", "localhost"),
            ("https://[::1]/am", "https://localhost", "localhost"),
        ])
    func derivesOrigin(url: String, origin: String, party: String) throws {
        let made = WebAuthnOrigin(try Endpoint(url))
        #expect(made.text == origin)
        #expect(try made.relyingPartyID(for: nil) == party)
        #expect(try made.relyingPartyID(for: party.uppercased()) == party)
    }
}
