#if canImport(CTSS2) && canImport(Glibc)
import CTSS2
import Glibc
import SignetCore

/// A connection to a TPM, for use by one thread at a time.
///
/// It removes from the TPM only the objects that it created, because other programs use the TPM too.
final class TPMConnection: TPMOperations {
    let tss: CTSS2Functions
    private(set) var esys: OpaquePointer?
    private var tcti: OpaquePointer?
    /// The transient objects that this connection created in the TPM, oldest first.
    private var transient: [ESYS_TR] = []
    /// The key that ``load(_:)`` loaded.
    var loadedKey: ESYS_TR?
    /// True when a PIN releases ``loadedKey``.
    var isReleasedByPin = false
    /// The session for all commands; see ``session(saltedBy:)``.
    private var session: ESYS_TR?

    static let none = ESYS_TR(ESYS_TR_NONE)
    static let password = ESYS_TR(ESYS_TR_PASSWORD)
    static let owner = ESYS_TR(ESYS_TR_RH_OWNER)

    init(_ tcti: String) throws(StoreError) {
        tss = try TSS2Library.shared.get().functions
        try Self.checkDevice(tcti)
        let connected = tss.Tss2_TctiLdr_Initialize(tcti, &self.tcti)
        guard connected == 0 else {
            throw StoreError(
                .keyUnavailable, "open the TPM",
                "nothing answers at \(tcti), or tpm2-tss has no module for it", status: Int32(bitPattern: connected))
        }
        let begun = tss.Esys_Initialize(&esys, self.tcti, nil)
        guard begun == 0 else {
            tss.Tss2_TctiLdr_Finalize(&self.tcti)
            throw TPMResponse(code: begun).error("open the TPM")
        }
    }

    deinit {
        close()
    }

    func close() {
        guard esys != nil else { return }
        // Errors are ignored. The resource manager removes the remaining objects when the connection ends.
        for handle in transient.reversed() { _ = tss.Esys_FlushContext(esys, handle) }
        transient = []
        loadedKey = nil
        session = nil
        tss.Esys_Finalize(&esys)
        tss.Tss2_TctiLdr_Finalize(&tcti)
    }

    /// Checks that the device exists and can be opened.
    ///
    /// tpm2-tss returns the same code for a missing device, missing permission and a missing module, and would write commands
    /// into any file.
    private static func checkDevice(_ tcti: String) throws(StoreError) {
        guard tcti.hasPrefix("device:") else { return }
        let path = String(tcti.dropFirst("device:".count))
        let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw cannotOpen(path, errno) }
        defer { Glibc.close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFCHR else {
            throw StoreError(.keyUnavailable, "open the TPM", "\(path) is not a device")
        }
    }

    private static func cannotOpen(_ path: String, _ status: Int32) -> StoreError {
        switch status {
        case ENOENT, ENODEV, ENXIO:
            StoreError(
                .keyUnavailable, "open the TPM",
                "there is no \(path): the machine has no TPM 2.0, or it is switched off in the machine's setup", status: status)
        case EACCES, EPERM:
            StoreError(
                .denied, "open the TPM",
                "you may not use \(path): become a member of the group tss (usermod --append --groups tss USER), and log in anew",
                status: status)
        case EBUSY:
            StoreError(.busy, "open the TPM", "another program holds \(path)", status: status)
        default:
            StoreError(.keyUnavailable, "open the TPM", "\(path): \(String(cString: strerror(status)))", status: status)
        }
    }
}

// MARK: Helpers

extension TPMConnection {
    func check(_ operation: String, _ code: TSS2_RC) throws(StoreError) {
        guard code == 0 else { throw TPMResponse(code: code).error(operation) }
    }

    /// Records that this connection created `handle` in the TPM.
    func own(_ handle: ESYS_TR) -> ESYS_TR {
        transient.append(handle)
        return handle
    }

    /// Removes `handle` from the TPM, if this connection created it.
    ///
    /// Many TPMs have room for only three objects.
    func drop(_ handle: ESYS_TR) {
        guard let index = transient.firstIndex(of: handle) else { return }
        transient.remove(at: index)
        _ = tss.Esys_FlushContext(esys, handle)
    }

    /// The parts of a command whose first parameter is encrypted on the bus: the command, the response, or both.
    ///
    /// The TPM requires that such a parameter exists.
    struct Encrypted: OptionSet {
        let rawValue: TPMA_SESSION
        static let command = Encrypted(rawValue: TPMA_SESSION(TPMA_SESSION_DECRYPT))
        static let answer = Encrypted(rawValue: TPMA_SESSION(TPMA_SESSION_ENCRYPT))
    }

    /// Returns the session of this connection, and starts it if necessary.
    ///
    /// Its keys are derived from a secret that only the TPM with the storage key's private half can decrypt. An attacker between
    /// the program and the TPM therefore cannot read the encrypted parameters, or change a command or a response.
    func session(saltedBy storageKey: ESYS_TR) throws(StoreError) -> ESYS_TR {
        if let session { return session }
        var cipher = TPMT_SYM_DEF()
        cipher.algorithm = TPM2_ALG_AES
        cipher.keyBits.aes = 128
        cipher.mode.aes = TPM2_ALG_CFB
        var handle = Self.none
        try check(
            "start a session with the TPM",
            tss.Esys_StartAuthSession(
                esys, storageKey, Self.none, Self.none, Self.none, Self.none, nil, TPM2_SE(TPM2_SE_HMAC), &cipher,
                TPM2_ALG_SHA256, &handle))
        session = own(handle)
        return handle
    }

    /// Returns the session, prepared for one command.
    func session(_ encrypted: Encrypted) throws(StoreError) -> ESYS_TR {
        guard let session else { throw StoreError(.failed, "ask the TPM", "there is no session") }
        try check(
            "use a session with the TPM",
            tss.Esys_TRSess_SetAttributes(
                esys, session, encrypted.rawValue | TPMA_SESSION(TPMA_SESSION_CONTINUESESSION), 0xFF))
        return session
    }

    /// Returns at most `count` capabilities of the TPM, from `property` on.
    func capability(_ capability: TPM2_CAP, from property: UInt32, count: UInt32) throws(StoreError) -> TPMU_CAPABILITIES {
        var data: UnsafeMutablePointer<TPMS_CAPABILITY_DATA>?
        defer { tss.Esys_Free(data) }
        var more = TPMI_YES_NO()
        try check(
            "ask the TPM what it can do",
            tss.Esys_GetCapability(esys, Self.none, Self.none, Self.none, capability, property, count, &more, &data))
        guard let data else { throw StoreError(.failed, "ask the TPM what it can do", "it did not say") }
        return data.pointee.data
    }
}

/// Copies bytes into a fixed array of the C library, which Swift imports as a tuple.
func fill<Buffer>(_ buffer: inout Buffer, with bytes: [UInt8]) {
    withUnsafeMutableBytes(of: &buffer) { $0.copyBytes(from: bytes.prefix($0.count)) }
}

/// Returns the first `count` bytes of a fixed array of the C library, or all bytes if it has fewer.
func bytes<Buffer>(of buffer: Buffer, _ count: UInt16) -> [UInt8] {
    withUnsafeBytes(of: buffer) { Array($0.prefix(Int(count))) }
}
#endif
