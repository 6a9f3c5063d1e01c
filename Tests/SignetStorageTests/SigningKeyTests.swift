import Foundation
import SignetCore
import SignetTesting
import Testing

@testable import SignetStorage

@Suite("A signing key")
struct SigningKeyTests {
    /// The references of version 1 for each place, as they are stored, with the private half 1 for the one in software.
    private static let frozen = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/signing-keys")

    private static func reference(_ name: String) throws -> Secret {
        let text = try String(contentsOf: frozen.appending(path: name), encoding: .utf8)
        return Secret(try Base64.decode(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    }

    @Test("A signing key in software opens from its reference, and signs for its public half")
    func softwareKeySigns() throws {
        let provider = SigningKeyProvider()
        let key = try provider.create(.software)
        let opened = try provider.open(key.reference)
        #expect(key.level == .software && opened.level == .software)
        #expect(opened.publicKey == key.publicKey && opened.reference == key.reference)
        let (bytes, other) = (Array("bytes".utf8), Array("other bytes".utf8))
        let signature = try opened.sign(bytes)
        #expect(signature.count == 64)
        #expect(key.publicKey.isValid(signature, of: bytes))
        #expect(!key.publicKey.isValid(signature, of: other))
        let another = try provider.create(.software)
        #expect(another.publicKey != key.publicKey)
    }

    @Test("A signing key in software signs from async code, and is not attested")
    func softwareKeyIsNotAttested() async throws {
        let key = try SigningKeyProvider().create(.software)
        let signature = try await key.signature(of: [1, 2, 3])
        #expect(key.publicKey.isValid(signature, of: [1, 2, 3]))
        #expect(throws: StoreError.self) { try key.attestation(nonce: [1]) }
    }

    @Test("A reference of a key in software of version 1 opens with the public half of its private half")
    func opensFrozenSoftwareKey() throws {
        let reference = try Self.reference("software.txt")
        let key = try SigningKeyProvider().open(reference)
        // The private half is 1, so the public half is the generator of P-256 (SEC 2 section 2.4.2).
        #expect(Hexadecimal.text(of: key.publicKey.x) == "6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296")
        #expect(key.reference == reference)
        let half = SigningKeyProvider.privateHalf(of: reference)
        #expect(half == Secret([UInt8](repeating: 0, count: 31) + [1]))
    }

    @Test("The references of keys in hardware of version 1 are read and written unchanged")
    func readsFrozenHardwareReferences() throws {
        let tpm = try Self.reference("tpm.txt")
        guard case .tpm(let key) = try SigningKeyReference(tpm) else {
            Issue.record("it is of another kind")
            return
        }
        #expect(key.storageKey.count == 34 && key.blob.count > 100)
        #expect(SigningKeyReference.tpm(key).bytes == tpm)
        let enclave = try Self.reference("secure-enclave.txt")
        guard case .secureEnclave(let bytes) = try SigningKeyReference(enclave) else {
            Issue.record("it is of another kind")
            return
        }
        #expect(bytes == Array("sealed by an enclave".utf8))
        #expect(SigningKeyReference.secureEnclave(bytes).bytes == enclave)
        #expect(SigningKeyProvider.privateHalf(of: tpm) == nil && SigningKeyProvider.privateHalf(of: enclave) == nil)
    }

    @Test("A reference that is cut, extended or of another form is damaged", arguments: ["software", "tpm", "secure-enclave"])
    func refusesDamagedReference(name: String) throws {
        let whole = try Self.reference("\(name).txt").bytes
        let cut = (0..<whole.count).map { Array(whole.prefix($0)) }
        for bytes in cut + [whole + [0], [0] + whole] {
            let error = failure { () throws(StoreError) in try SigningKeyProvider().open(Secret(bytes)) }
            #expect(error?.code == .corrupt, "\(bytes.count) bytes")
        }
    }

    @Test("A reference of another version or kind is reported as one of a newer format", arguments: [4, 5])
    func reportsNewerReference(position: Int) throws {
        var bytes = try Self.reference("software.txt").bytes
        bytes[position] = 9
        let changed = Secret(bytes)
        let error = failure { () throws(StoreError) in try SigningKeyProvider().open(changed) }
        #expect(error?.code == .newerFormat)
    }

    @Test("A private half outside of the scalars of P-256 is damaged", arguments: [UInt8(0), 0xFF])
    func refusesInvalidScalar(byte: UInt8) {
        let reference = SigningKeyReference.software(Secret([UInt8](repeating: byte, count: 32))).bytes
        let error = failure { () throws(StoreError) in try SigningKeyProvider().open(reference) }
        #expect(error?.code == .corrupt)
    }

    #if os(Linux)
    @Test("A machine without hardware makes a signing key in software only when any place is allowed")
    func fallsBackOnlyWhenAllowed() throws {
        let provider = SigningKeyProvider(HardwareKeys(tcti: "device:/dev/signet-has-no-such-tpm"))
        #expect(!provider.availability().isUsable)
        let best = try provider.create(.best)
        #expect(best.level == .software)
        let error = failure { () throws(StoreError) in try provider.create(.hardware) }
        #expect(error?.code == .keyUnavailable)
        let (tpm, enclave) = (try Self.reference("tpm.txt"), try Self.reference("secure-enclave.txt"))
        let missing = failure { () throws(StoreError) in try provider.open(tpm) }
        #expect(missing?.code == .keyUnavailable)
        let foreign = failure { () throws(StoreError) in try provider.open(enclave) }
        #expect(foreign?.code == .keyMismatch)
    }

    @Test("A factor that the hardware does not check creates no key", arguments: SigningKeyFactor.allCases)
    func refusesUncheckedFactor(factor: SigningKeyFactor) {
        let provider = SigningKeyProvider()
        #expect(!provider.supports(factor))
        for requirement in [SigningKeyRequirement.best, .hardware, .software] {
            let error = failure { () throws(StoreError) in try provider.create(requirement, releasedBy: factor) }
            #expect(error?.code == .keyUnavailable)
        }
    }
    #endif
}
