#if canImport(CFIDO2) && canImport(Glibc)
import CFIDO2
import SignetCore

/// The functions of libfido2 that were loaded on this machine.
struct LibFIDO2 {
    let functions: cfido2_functions

    /// Returns the loaded functions.
    /// - Throws: ``WebAuthnError/Name/notSupported`` when the library is not installed on this machine.
    static func load() throws(WebAuthnError) -> LibFIDO2 {
        guard let loaded = cfido2_load() else {
            let reason = cfido2_failure().map { String(cString: $0) } ?? ""
            // The loader's reason names the library again, and says more than this only when the library is there.
            let isMissing = reason.hasPrefix("libfido2.so.1: cannot open shared object file")
            let fault = isMissing ? "libfido2.so.1, which is not installed" : "libfido2, which cannot be loaded (\(reason))"
            throw WebAuthnError(
                .notSupported, "security keys need \(fault); install it, e.g. with: apt-get install libfido2-1")
        }
        return LibFIDO2(functions: loaded.pointee)
    }

    /// The values of `fido_opt_t`.
    enum Option: UInt32 {
        case omitted = 0
        case no = 1
        case yes = 2
    }

    /// The numbers of the errors that have a meaning of their own (CTAP 2.1 section 6.2.1).
    ///
    /// Tests/FIDO2Prototypes checks them against the headers.
    enum Status {
        static let timeout: Int32 = 0x05
        static let credentialExcluded: Int32 = 0x19
        static let unsupportedAlgorithm: Int32 = 0x26
        static let operationDenied: Int32 = 0x27
        static let keyStoreFull: Int32 = 0x28
        static let unsupportedOption: Int32 = 0x2B
        static let keepaliveCancel: Int32 = 0x2D
        static let noCredentials: Int32 = 0x2E
        static let userActionTimeout: Int32 = 0x2F
        static let pinInvalid: Int32 = 0x31
        static let pinBlocked: Int32 = 0x32
        static let pinAuthBlocked: Int32 = 0x34
        static let pinRequired: Int32 = 0x36
        static let actionTimeout: Int32 = 0x3A
    }

    /// Returns the keys that are connected to this machine.
    /// - Returns: At most 16 keys.
    /// - Throws: ``WebAuthnError/Name/unknown`` when they cannot be listed.
    func connectedKeys() throws(WebAuthnError) -> [SecurityKeyPort] {
        let limit = 16
        var list = functions.fido_dev_info_new(limit)
        defer { functions.fido_dev_info_free(&list, limit) }
        var count = 0
        guard list != nil, functions.fido_dev_info_manifest(list, limit, &count) == 0 else {
            throw WebAuthnError(.unknown, "the security keys of this machine cannot be listed")
        }
        return (0..<count).compactMap { index in
            let info = functions.fido_dev_info_ptr(list, index)
            guard let path = Self.text(functions.fido_dev_info_path(info)) else { return nil }
            let names = [functions.fido_dev_info_manufacturer_string(info), functions.fido_dev_info_product_string(info)]
            let name = names.compactMap { Self.text($0) }.joined(separator: " ")
            return SecurityKeyPort(SecurityKey(path: path, name: name))
        }
    }

    /// Throws the error for a status other than success.
    func check(_ status: Int32) throws(SecurityKeyFailure) {
        guard status != 0 else { return }
        let text = functions.fido_strerr(status).map { String(cString: $0) } ?? "error \(status)"
        throw SecurityKeyFailure(status: status, text: text)
    }

    /// Returns a copy of bytes that the library owns.
    static func bytes(_ pointer: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8] {
        guard let pointer, count > 0 else { return [] }
        return Array(UnsafeBufferPointer(start: pointer, count: count))
    }

    /// Returns a copy of a text that the library owns; nil for none.
    static func text(_ pointer: UnsafePointer<CChar>?) -> String? { pointer.map { String(cString: $0) } }
}

/// A status of libfido2 other than success.
struct SecurityKeyFailure: Error {
    let status: Int32
    /// The name of the status in libfido2.
    let text: String

    /// True when the PIN was wrong and another attempt is possible.
    var isWrongPIN: Bool { status == LibFIDO2.Status.pinInvalid }
    /// True when the key has no keys for the algorithm.
    var isUnsupportedAlgorithm: Bool { status == LibFIDO2.Status.unsupportedAlgorithm }

    /// The error for the server.
    var webAuthnError: WebAuthnError {
        switch status {
        case LibFIDO2.Status.credentialExcluded:
            WebAuthnError(.invalidState, "the security key already holds a passkey for this account")
        case LibFIDO2.Status.unsupportedAlgorithm:
            WebAuthnError(.notSupported, "the security key has none of the server's algorithms")
        case LibFIDO2.Status.unsupportedOption, LibFIDO2.Status.keyStoreFull:
            WebAuthnError(.constraint, "the security key cannot store this passkey (\(text))")
        case LibFIDO2.Status.operationDenied, LibFIDO2.Status.keepaliveCancel:
            WebAuthnError(.notAllowed, "the user declined at the security key")
        case LibFIDO2.Status.noCredentials:
            WebAuthnError(.notAllowed, "the security key has no passkey for this request")
        case LibFIDO2.Status.pinInvalid: WebAuthnError(.notAllowed, "the PIN of the security key is wrong")
        case LibFIDO2.Status.pinBlocked:
            WebAuthnError(.notAllowed, "the PIN of the security key is blocked: the key must be reset")
        case LibFIDO2.Status.pinAuthBlocked:
            WebAuthnError(.notAllowed, "too many wrong PINs: remove the security key and insert it again")
        case LibFIDO2.Status.pinRequired: WebAuthnError(.constraint, "the security key requires its PIN")
        case LibFIDO2.Status.timeout, LibFIDO2.Status.userActionTimeout, LibFIDO2.Status.actionTimeout:
            WebAuthnError(.timeout, "the security key was not touched in time")
        default: WebAuthnError(.unknown, "the security key failed (\(text))")
        }
    }
}
#endif
