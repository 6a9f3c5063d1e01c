import Crypto
import Foundation
import SignetCore
import TestSupport

@testable import SignetStorage

/// The shared support of the tests with a TPM.
enum TPMSupport {
    /// The reason why they cannot run here; nil when they can.
    static let missing: String? = {
        #if canImport(Glibc)
        SoftwareTPM.missing()
        #else
        "no TPM on this system"
        #endif
    }()

    static var isHere: Bool { missing == nil }
    static var isManagedHere: Bool { isHere && SoftwareTPM.missing(resourceManager: true) == nil }
    /// A real TPM would be the default here.
    static var hasRealTPM: Bool { FileManager.default.fileExists(atPath: "/dev/tpmrm0") }

    static let context = Array("signet vault slot of a test".utf8)
}

/// The error that `body` throws; nil when it throws none.
func failure(_ body: () throws(StoreError) -> some Any) -> StoreError? {
    do throws(StoreError) {
        _ = try body()
        return nil
    } catch {
        return error
    }
}

/// Bytes of Apple's older algorithm, which Signet only reads.
enum LegacyECIES {
    static func seal(_ plaintext: [UInt8], to publicKey: [UInt8]) throws -> [UInt8] {
        let ephemeral = P256.KeyAgreement.PrivateKey()
        let point = Array(ephemeral.publicKey.x963Representation)
        let recipient = try P256.KeyAgreement.PublicKey(x963Representation: publicKey)
        let key = try ephemeral.sharedSecretFromKeyAgreement(with: recipient).x963DerivedSymmetricKey(
            using: SHA256.self, sharedInfo: point, outputByteCount: 16)
        let box = try AES.GCM.seal(plaintext, using: key, nonce: AES.GCM.Nonce(data: [UInt8](repeating: 0, count: 16)))
        return point + Array(box.ciphertext) + Array(box.tag)
    }
}

#if os(Linux)
extension SoftwareTPM {
    /// The handles of everything that is in the TPM only while a program uses it.
    func handlesInUse() async throws -> String {
        var handles = ""
        for kind in ["handles-transient", "handles-loaded-session", "handles-saved-session"] {
            handles += try await tool("tpm2_getcap", kind)
        }
        return handles
    }
}
#endif
