import Foundation
import SignetStorage
import SignetTesting
import TestSupport

/// The cost of a key in a TPM, compared with the one operation that it needs.
enum TPMRows {
    private static let name = "TPM: an item opened, beside the bare operation"

    static func measure() async throws -> [Row] {
        #if canImport(CTSS2) && canImport(Glibc)
        if let missing = SoftwareTPM.missing() { return [.skipped(name, because: missing)] }
        return [try await SoftwareTPM.with { try await opening($0.tcti) }]
        #else
        return [.skipped(name, because: "no TPM on this system")]
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
                let bare = try BareTPM(tcti, keyFile: Data(contentsOf: file), point: sealed.prefix(65))
                defer { bare.close() }
                let begin = ContinuousClock.now
                for _ in 0..<operations { try bare.agree() }
                return ContinuousClock.now - begin
            }
            return Row(
                name, try await Race(ours: ours, reference: reference, slice: .milliseconds(100)).run(), .atMost(1.3))
        }
    }

    private static func encryptor(_ tcti: String, _ home: VaultDirectory) throws -> SecuredKeyEncryptor {
        SecuredKeyEncryptor(try SecuredKey(tag: "bench", in: home, of: HardwareKeys(tcti: tcti)))
    }
    #endif
}
