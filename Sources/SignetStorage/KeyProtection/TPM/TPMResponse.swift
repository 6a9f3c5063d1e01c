#if canImport(CTSS2) && canImport(Glibc)
/// An error code of a TPM, or of tpm2-tss.
///
/// The numbers are those of TPM 2.0 part 2, section 6.6.
struct TPMResponse {
    /// The complete code, as `tpm2_rc_decode` takes it.
    ///
    /// An error has it as its platform status.
    let code: UInt32

    /// The cause, without the details that the code also contains: the layer that passed on the TPM's code, and the number of the
    /// parameter, handle or session.
    enum Kind: UInt32 {
        case hierarchy = 0x85
        case handle = 0x8B
        case authFail = 0x8E
        case integrity = 0x9F
        case badAuth = 0xA2
        case binding = 0xA5
        case point = 0xA7
        case notStarted = 0x100
        case failureMode = 0x101
        case disabled = 0x120
        case authUnavailable = 0x12F
        case noSpace = 0x14B
        case defined = 0x14C
        case contextGap = 0x901
        case objectMemory = 0x902
        case sessionMemory = 0x903
        case memory = 0x904
        case yielded = 0x908
        case testing = 0x90A
        case rateLimited = 0x920
        case lockout = 0x921
        case retry = 0x922
        case memoryUnavailable = 0x923
        /// A code of tpm2-tss: the response does not have the session's authentication code.
        case forgedAnswer = 0x7_001B
        /// A code of tpm2-tss: the connection failed.
        case inputOutput = 0xA_000A
        case noConnection = 0xA_0008
    }

    /// The cause; nil for a code that Signet does not handle.
    var kind: Kind? {
        let layer = code >> 16
        let number = code & 0xFFFF
        // A resource manager passes on the TPM's codes with its own layer.
        guard layer == 0 || layer == 12 else { return Kind(rawValue: code) }
        return Kind(rawValue: number & 0x80 != 0 ? number & 0xBF : number)
    }

    /// True when the TPM rejects a parameter of the command, for any reason.
    var isAboutParameter: Bool { (code >> 16 == 0 || code >> 16 == 12) && code & 0xC0 == 0xC0 }

    /// Returns the error for an operation that failed with this code.
    func error(_ operation: String) -> StoreError {
        let (code, reason) = meaning
        return StoreError(code, operation, reason, status: Int32(bitPattern: self.code))
    }

    /// Returns the error for a key that a PIN releases, when the TPM refuses the PIN; nil for another code.
    func pinRefusal(_ operation: String) -> StoreError? {
        let reason: String
        switch kind {
        case .authFail, .badAuth: reason = "the PIN is wrong, and the TPM counted the attempt"
        case .lockout: reason = "there were too many wrong PINs: the TPM is locked for a while; do not try again before"
        default: return nil
        }
        return StoreError(.denied, operation, reason, status: Int32(bitPattern: code))
    }

    private var meaning: (StoreError.Code, String) {
        switch kind {
        case .authFail, .badAuth, .authUnavailable, .lockout:
            (
                .denied,
                "the TPM requires a password of its owner or of its storage key; ask its administrator to remove the password"
            )
        case .integrity, .binding:
            (.keyMismatch, "the TPM does not take the key back: it was changed, or is another TPM's; nothing was changed")
        case .point:
            (.corrupt, "what was sealed is damaged: its point is not on the curve")
        case .hierarchy, .disabled:
            (.keyUnavailable, "the TPM's storage is switched off; switch it on in the machine's setup")
        case .notStarted, .failureMode:
            (.keyUnavailable, "the TPM is not running, or failed its self-test; start the machine anew")
        case .noSpace:
            (.full, "the TPM has no room left")
        case .contextGap, .objectMemory, .sessionMemory, .memory, .yielded, .testing, .rateLimited, .retry, .memoryUnavailable:
            (.busy, "the TPM is busy; go through its resource manager (\(TPMProtector.defaultTCTI)), or try again")
        case .inputOutput, .noConnection:
            (.keyUnavailable, "the connection to the TPM failed")
        case .forgedAnswer:
            (.failed, "the TPM's response was changed on its way to this process, and was discarded")
        case .handle, .defined, nil:
            (.failed, "the TPM refuses")
        }
    }
}
#endif
