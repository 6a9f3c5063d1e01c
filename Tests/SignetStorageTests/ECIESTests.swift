import Crypto
import Foundation
import SignetCore
import Testing

@testable import SignetStorage

/// The rows of Vectors/ecies.json.
private struct Vectors {
    let receiver: SoftwareKey
    let ephemeral: P256.KeyAgreement.PrivateKey
    let plaintext: [UInt8]
    let variableIV: [UInt8]
    let legacy: [UInt8]

    init() throws {
        let file = try #require(Bundle.module.url(forResource: "Vectors/ecies", withExtension: "json"))
        let json = try JSON.value(of: Array(Data(contentsOf: file)))
        func bytes(_ value: JSONValue?) throws -> [UInt8] {
            let digits = Array(try #require(value?.string))
            return try stride(from: 0, to: digits.count, by: 2).map {
                try #require(UInt8(String(digits[$0...($0 + 1)]), radix: 16))
            }
        }
        receiver = try SoftwareKey(Secret(bytes(json["receiverPrivate"])))
        ephemeral = try P256.KeyAgreement.PrivateKey(rawRepresentation: bytes(json["ephemeralPrivate"]))
        plaintext = Array(try #require(json["plaintextUTF8"]?.string).utf8)
        let point = try bytes(json["ephemeralPublic"])
        func sealed(_ name: String) throws -> [UInt8] {
            try point + bytes(json[name]?["ciphertext"]) + bytes(json[name]?["tag"])
        }
        variableIV = try sealed("variableIV")
        legacy = try sealed("legacyZeroIV")
    }
}

/// A key that counts its operations.
private final class CountedKey: AgreementKey {
    let key: SoftwareKey
    let asked = Counter()

    init(_ key: SoftwareKey) { self.key = key }

    var publicKey: [UInt8] { key.publicKey }

    func agree(with ephemeral: [UInt8]) throws(StoreError) -> Secret {
        asked.add()
        return try key.agree(with: ephemeral)
    }
}

@Suite("ECIES for a P-256 key in Apple's layout")
struct ECIESTests {
    @Test("ECIES seals the bytes of the test vector")
    func sealsECIESVector() throws {
        let vectors = try Vectors()
        let sealed = try ECIES.seal(vectors.plaintext, to: vectors.receiver.publicKey, ephemeral: vectors.ephemeral)
        #expect(sealed == vectors.variableIV)
    }

    @Test("ECIES opens both layouts with one operation of the private key")
    func opensBothECIESLayouts() throws {
        let vectors = try Vectors()
        for sealed in [vectors.variableIV, vectors.legacy] {
            let key = CountedKey(vectors.receiver)
            let opened = try ECIES.open(sealed, with: key)
            #expect(opened == vectors.plaintext)
            #expect(key.asked.count == 1)
        }
    }

    @Test("ECIES opens what it sealed at any length", arguments: [0, 1, 15, 16, 17, 1024, 100_000])
    func opensECIESAtAnyLength(count: Int) async throws {
        let encryptor = try SoftwareKeyEncryptor(privateKey: Secret([UInt8](repeating: 7, count: 32)))
        let plaintext = Data((0..<count).map { UInt8(truncatingIfNeeded: $0) })
        let sealed = try await encryptor.encrypt(data: plaintext)
        #expect(sealed.count == count + 81)
        let again = try await encryptor.encrypt(data: plaintext)
        #expect(again.prefix(65) != sealed.prefix(65), "two messages share an ephemeral key")
        let opened = try await encryptor.decrypt(data: sealed)
        #expect(opened == plaintext)
    }

    @Test("ECIES refuses a message with a changed bit or a missing part")
    func refusesDamagedECIES() throws {
        let vectors = try Vectors()
        for sealed in [vectors.variableIV, vectors.legacy] {
            for bit in 0..<sealed.count * 8 {
                var changed = sealed
                changed[bit / 8] ^= 1 << (bit % 8)
                let error = failure { () throws(StoreError) in try ECIES.open(changed, with: vectors.receiver) }
                #expect(error?.code == .corrupt, "bit \(bit)")
            }
            for count in 0..<sealed.count {
                let error = failure { () throws(StoreError) in
                    try ECIES.open(Array(sealed.prefix(count)), with: vectors.receiver)
                }
                #expect(error?.code == .corrupt, "\(count) bytes")
            }
        }
    }

    @Test("ECIES does not open a message with another key")
    func refusesAnotherECIESKey() throws {
        let vectors = try Vectors()
        let other = try SoftwareKey(Secret([UInt8](repeating: 0x33, count: 32)))
        let error = failure { () throws(StoreError) in try ECIES.open(vectors.variableIV, with: other) }
        #expect(error?.code == .corrupt)
    }

    @Test(
        "ECIES refuses a scalar outside of P-256",
        arguments: [[], [1], [UInt8](repeating: 0, count: 32), [UInt8](repeating: 0xFF, count: 32)])
    func refusesBadScalar(bytes: [UInt8]) {
        let error = failure { () throws(StoreError) in try SoftwareKeyEncryptor(privateKey: Secret(bytes)) }
        #expect(error?.code == .keyMismatch)
    }
}
