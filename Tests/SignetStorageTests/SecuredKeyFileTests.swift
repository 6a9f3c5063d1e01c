#if os(Linux)
import Foundation
import SignetCore
import SignetTesting
import Testing
import TestSupport

@testable import SignetStorage

@Suite("The file of a secured key")
struct SecuredKeyFileTests {
    private static let plaintext = Array("the secret of Harbor Bank".utf8)

    /// Runs `body` with a TPM and an empty directory.
    private func withTPM(_ body: (SoftwareTPM, VaultDirectory) async throws -> Void) async throws {
        try await TemporaryDirectory.with { temporary in
            try await SoftwareTPM.with { tpm in
                try await body(tpm, VaultDirectory(path: temporary.file("home")))
            }
        }
    }

    // The TPM serves one connection at a time, and a key keeps its own: each of these ends with the key that it loaded.

    private func publicKey(
        _ tpm: SoftwareTPM, _ directory: VaultDirectory, tag: String = "test", pin: String? = nil, isNew: Bool = false
    ) throws(StoreError) -> [UInt8] {
        let hardware = HardwareKeys(tcti: tpm.tcti)
        let key =
            if let pin {
                try SecuredKey(tag: tag, pin: Secret(pin.utf8), isNew: isNew, in: directory, of: hardware)
            } else {
                try SecuredKey(tag: tag, in: directory, of: hardware)
            }
        return key.publicKey
    }

    private func open(
        _ sealed: [UInt8], _ tpm: SoftwareTPM, _ directory: VaultDirectory, pin: String
    ) throws(StoreError) -> [UInt8] {
        let key = try SecuredKey(
            tag: "test", pin: Secret(pin.utf8), isNew: false, in: directory, of: HardwareKeys(tcti: tpm.tcti))
        return try ECIES.open(sealed, with: key.key)
    }

    @Test(
        "A new key leaves the keys of all other tags, also of one that ends like the name of an unfinished file",
        .enabled(if: TPMSupport.isHere, "\(TPMSupport.missing ?? "")"), arguments: [nil, "123456"])
    func keepsKeysOfOtherTags(pin: String?) async throws {
        try await withTPM { tpm, directory in
            let tags = ["test.new", "new", "key-test", "pin-key-test", "unfinished-secured-key-test"]
            let before = try tags.map { try publicKey(tpm, directory, tag: $0, pin: pin) }
            _ = try publicKey(tpm, directory)
            _ = try publicKey(tpm, directory, pin: "123456")
            _ = try publicKey(tpm, directory, pin: "777777", isNew: true)
            let after = try tags.map { try publicKey(tpm, directory, tag: $0, pin: pin) }
            #expect(after == before)
        }
    }
}
#endif
