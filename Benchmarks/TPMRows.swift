import Foundation
import SignetCore
import SignetStorage
import SignetTesting
import TestSupport

/// The cost of a key in a TPM, compared with the one operation that it needs.
enum TPMRows {
    private static let name = "TPM: an item opened, beside the bare operation"
    private static let signatureName = "TPM: a signature (ES256), beside the bare operation"

    static func measure() async throws -> [Row] {
        #if canImport(CTSS2) && canImport(Glibc)
        if let missing = SoftwareTPM.missing() { return [name, signatureName].map { .skipped($0, because: missing) } }
        return [
            try await SoftwareTPM.with { try await opening($0.tcti) }, try await SoftwareTPM.with { try await signing($0.tcti) },
        ]
        #else
        return [name, signatureName].map { .skipped($0, because: "no TPM on this system") }
        #endif
    }

    #if canImport(CTSS2) && canImport(Glibc)
    /// `swtpm` serves one connection at a time, so each side connects, loads the key and begins its session before its turn,
    /// and ends it all after: both ask the same TPM, and only the asking counts.
    private static func opening(_ tcti: String) async throws -> Row {
        try await TemporaryDirectory.with { directory in
            let home = VaultDirectory(path: directory.path)
            let file = URL(filePath: directory.file("secured-key-bench"))
            let plaintext = Data("an access token of usual length".utf8)
            let sealed = try await encryptor(tcti, home).encrypt(data: plaintext)

            let ours = Contender("SecuredKeyEncryptor.decrypt") { operations in
                let encryptor = try encryptor(tcti, home)
                let begin = ContinuousClock.now
                for _ in 0..<operations {
                    guard try await encryptor.decrypt(data: sealed) == plaintext else { throw BenchError("wrong plaintext") }
                }
                return ContinuousClock.now - begin
            }
            let reference = Contender("Esys_ECDH_ZGen") { operations in
                let bare = try BareTPM(tcti, key: Array(Data(contentsOf: file)), encryptsAnswer: true)
                defer { bare.close() }
                bare.setPoint(sealed.prefix(65))
                let begin = ContinuousClock.now
                for _ in 0..<operations { try bare.agree() }
                return ContinuousClock.now - begin
            }
            return Row(
                name, try await Race(ours: ours, reference: reference, slice: .milliseconds(100)).run(), .atMost(1.3))
        }
    }

    /// Signs with a key in the TPM, as ``opening(_:)`` opens: the key is loaded before each side's turn.
    private static func signing(_ tcti: String) async throws -> Row {
        let provider = SigningKeyProvider(HardwareKeys(tcti: tcti))
        let reference = try provider.create(.hardware).reference
        let input = Array("the header and the claims of a proof, as they are signed".utf8)
        let ours = Contender("SigningKey.sign") { operations in
            let key = try provider.open(reference)
            let begin = ContinuousClock.now
            for _ in 0..<operations {
                guard try key.sign(input).count == 64 else { throw BenchError("no signature") }
            }
            return ContinuousClock.now - begin
        }
        let bare = Contender("Esys_Sign") { operations in
            let bare = try BareTPM(tcti, key: reference.bytes, encryptsAnswer: false)
            defer { bare.close() }
            let begin = ContinuousClock.now
            for _ in 0..<operations { try bare.sign() }
            return ContinuousClock.now - begin
        }
        return Row(
            signatureName, try await Race(ours: ours, reference: bare, slice: .milliseconds(100)).run(), .atMost(1.3))
    }

    private static func encryptor(_ tcti: String, _ home: VaultDirectory) throws -> SecuredKeyEncryptor {
        SecuredKeyEncryptor(try SecuredKey(tag: "bench", in: home, of: HardwareKeys(tcti: tcti)))
    }
    #endif
}
