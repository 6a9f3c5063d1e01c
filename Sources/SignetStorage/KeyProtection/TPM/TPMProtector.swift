public import SignetCore

/// A key protector that seals the data key with this machine's TPM 2.0.
///
/// A copy of the vault cannot be opened without the machine.
///
/// The TPM creates a P-256 key for every slot and does not store it. The slot contains the private key, sealed by the TPM's
/// storage key, and the data key, sealed to the P-256 key. Opening takes one operation with the private key, in a session whose
/// traffic is encrypted. This protects against an attacker with the disk, but not against programs of the same user on this
/// machine.
///
/// All calls block, for up to several seconds with a real TPM. From async code, run them on a thread that may wait.
///
/// The libraries of tpm2-tss are loaded at the first use. Without them, and on other systems than Linux, every call throws
/// ``StoreError/Code/keyUnavailable``.
public struct TPMProtector: RollbackProtector {
    /// The TCTI of the kernel's resource manager, which lets several programs use the TPM at once.
    public static let defaultTCTI = "device:/dev/tpmrm0"

    /// The name `tpm`.
    public let name = "tpm"
    /// The TCTI of the TPM in the notation of tpm2-tss: the name of a transmission interface, and its settings.
    public let tcti: String

    private let operations = Counter()

    /// Creates a key protector with the TPM at `tcti`.
    ///
    /// It connects when the TPM is needed.
    ///
    /// The TPM is always specified, never searched for. An empty name is rejected with an error, because with it tpm2-tss would
    /// finally try port 2321 of this machine, where any user could imitate the hardware.
    public init(tcti: String = TPMProtector.defaultTCTI) {
        self.tcti = tcti
    }

    /// Checks that the TPM can be used.
    ///
    /// Reasons why it cannot be used are a missing library or device, missing permission, no support for P-256, or an owner
    /// password.
    public func availability() -> KeyProtectorAvailability {
        KeyProtectorAvailability { () throws(StoreError) in
            try TPMAccess.with(tcti) { (tpm: any TPMOperations) throws(StoreError) in try tpm.checkFitness() }
        }
    }

    /// Creates a key in the TPM and seals `dataKey` to it.
    ///
    /// Creates the TPM's storage key first if it does not exist.
    /// - Throws: ``StoreError/Code/keyUnavailable`` without a TPM; ``StoreError/Code/denied`` without the permission to use it.
    public func wrap(_ dataKey: Secret, context: [UInt8]) throws(StoreError) -> [UInt8] {
        try TPMAccess.with(tcti) { (tpm: any TPMOperations) throws(StoreError) in
            let key = try tpm.makeKey()
            // Loading the key proves that the TPM accepts it, and that the public half belongs to it.
            let publicKey = try tpm.load(key)
            return try TPMSlot.seal(dataKey, to: publicKey, of: key, context: context)
        }
    }

    /// Opens what ``wrap(_:context:)`` sealed, with one operation of the private key.
    /// - Throws: ``StoreError/Code/keyMismatch`` when another TPM sealed it, or this one was cleared since;
    ///   ``StoreError/Code/keyUnavailable`` without a TPM; ``StoreError/Code/denied`` without the permission to use it;
    ///   ``StoreError/Code/corrupt`` or ``StoreError/Code/newerFormat`` when it is not what was written.
    public func unwrap(_ wrapped: [UInt8], context: [UInt8]) throws(StoreError) -> Secret {
        let slot = try TPMSlot(wrapped)
        let agreed = try TPMAccess.with(tcti) { (tpm: any TPMOperations) throws(StoreError) in
            _ = try tpm.load(slot.key)
            operations.add()
            return try tpm.agree(with: slot.ephemeral)
        }
        return try slot.open(agreed, context: context)
    }

    /// The number of operations with a private key that this value and its copies have requested.
    package var privateKeyOperations: Int { operations.count }
}

// MARK: Epochs

extension TPMProtector {
    /// Returns the highest epoch that was stored for the vault; nil when this TPM has none.
    public func epoch(ofVault id: String) throws(StoreError) -> UInt64? {
        try TPMAccess.with(tcti) { (tpm: any TPMOperations) throws(StoreError) in try tpm.epoch(ofVault: id) }
    }

    /// Stores an epoch in the TPM's NV memory, of which a vault takes 8 bytes.
    ///
    /// Does nothing if the TPM already has the same epoch, so two programs may store it at once.
    /// - Throws: ``StoreError/Code/rolledBack`` when the epoch is lower than the stored one; ``StoreError/Code/full`` when the
    ///   TPM has no space left; ``StoreError/Code/denied`` when its owner has set a password.
    public func remember(epoch: UInt64, ofVault id: String) throws(StoreError) {
        try TPMAccess.with(tcti) { (tpm: any TPMOperations) throws(StoreError) in
            try tpm.remember(epoch: epoch, ofVault: id)
        }
    }

    /// Frees the NV memory of a vault that was removed.
    ///
    /// Does nothing if the TPM has no epoch of the vault.
    public func forgetEpoch(ofVault id: String) throws(StoreError) {
        try TPMAccess.with(tcti) { (tpm: any TPMOperations) throws(StoreError) in try tpm.forgetEpoch(ofVault: id) }
    }
}
