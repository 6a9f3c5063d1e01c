import Foundation
import SignetCore
import SignetTesting

@testable import SignetStorage

/// What the tests with a TPM share.
enum TPMSupport {
    /// Why they cannot run here; nil when they can.
    static let missing: String? = {
        #if TPM && os(Linux)
        SoftwareTPM.missing()
        #else
        "built without the trait TPM"
        #endif
    }()

    static var isHere: Bool { missing == nil }
    static var isManagedHere: Bool { isHere && SoftwareTPM.missing(resourceManager: true) == nil }
    /// Where there is a real TPM, the default is that.
    static var hasRealTPM: Bool { FileManager.default.fileExists(atPath: "/dev/tpmrm0") }

    static let context = Array("signet vault slot of a test".utf8)
}

/// What `body` throws; nil when it throws nothing.
func failure(_ body: () throws(StoreError) -> some Any) -> StoreError? {
    do throws(StoreError) {
        _ = try body()
        return nil
    } catch {
        return error
    }
}

#if os(Linux)
extension SoftwareTPM {
    /// The handles of everything that is in the TPM only as long as somebody uses it.
    func handlesInUse() async throws -> String {
        var handles = ""
        for kind in ["handles-transient", "handles-loaded-session", "handles-saved-session"] {
            handles += try await tool("tpm2_getcap", kind)
        }
        return handles
    }
}
#endif
