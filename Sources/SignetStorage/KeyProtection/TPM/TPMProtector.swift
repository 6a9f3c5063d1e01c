public import SignetCore
import Synchronization

/// The data key in the care of this machine's TPM 2.0: whoever copies the vault without the machine cannot open it.
///
/// The TPM makes a P-256 key for every slot and keeps nothing of it; the slot holds the key, sealed by the TPM's storage key,
/// and the data key, sealed to that key. Opening takes one operation with the private key, in a session whose traffic is
/// encrypted on the way. It protects against whoever has the disk, not against programs of the same user on this machine.
///
/// All calls block, with a real TPM for up to seconds; from async code, run them on a thread that may wait. Without the trait
/// TPM they all throw ``StoreError/Code/keyUnavailable``.
public struct TPMProtector: RollbackProtector {
    /// The kernel's own way to the TPM, which lets several programs use it at once.
    public static let defaultTCTI = "device:/dev/tpmrm0"

    /// `tpm`.
    public let name = "tpm"
    /// The way to the TPM, as tpm2-tss writes it: the name of a transmission interface, and its settings.
    public let tcti: String

    private let operations = OperationCount()

    /// The TPM at `tcti`, which is connected to when it is needed.
    ///
    /// It is always named, never searched. An empty name would let tpm2-tss try port 2321 of this machine at last, where any
    /// user could pose as the hardware; it is refused.
    public init(tcti: String = TPMProtector.defaultTCTI) {
        self.tcti = tcti
    }

    /// Whether the TPM can be asked, and if not, why: no library, no device, no permission, no P-256, an owner's password.
    public func availability() -> KeyProtectorAvailability {
        do throws(StoreError) {
            try TPMAccess.with(tcti) { (tpm: any TPMOperations) throws(StoreError) in try tpm.checkFitness() }
            return .usable
        } catch {
            return .unusable(error.reason)
        }
    }

    /// Makes a key in the TPM and seals `dataKey` to it. The TPM's storage key is made first if there is none.
    /// - Throws: ``StoreError/Code/keyUnavailable`` without a TPM, ``StoreError/Code/denied`` without the right to use it.
    public func wrap(_ dataKey: Secret, context: [UInt8]) throws(StoreError) -> [UInt8] {
        try TPMAccess.with(tcti) { (tpm: any TPMOperations) throws(StoreError) in
            let key = try tpm.makeKey()
            // Loading it proves that the TPM takes the key back, and the public half is one that the TPM vouches for.
            let publicKey = try tpm.load(key)
            return try TPMSlot.seal(dataKey, to: publicKey, of: key, context: context)
        }
    }

    /// Opens what ``wrap(_:context:)`` sealed, with one operation of the private key.
    /// - Throws: ``StoreError/Code/keyMismatch`` when another TPM sealed it, or this one was cleared since;
    ///   ``StoreError/Code/keyUnavailable`` without a TPM, ``StoreError/Code/denied`` without the right to use it;
    ///   ``StoreError/Code/corrupt`` or ``StoreError/Code/newerFormat`` when it is not what was written.
    public func unwrap(_ wrapped: [UInt8], context: [UInt8]) throws(StoreError) -> Secret {
        let slot = try TPMSlot(wrapped)
        let agreed = try TPMAccess.with(tcti) { (tpm: any TPMOperations) throws(StoreError) in
            _ = try tpm.load(slot.key)
            operations.increment()
            return try tpm.agree(with: slot.ephemeral)
        }
        return try slot.open(agreed, context: context)
    }

    /// How many operations with a private key this value and its copies have asked for.
    package var privateKeyOperations: Int { operations.count }
}

// MARK: Epochs

extension TPMProtector {
    /// The highest epoch that was told; nil when this TPM never heard of the vault.
    public func epoch(ofVault id: String) throws(StoreError) -> UInt64? {
        try TPMAccess.with(tcti) { (tpm: any TPMOperations) throws(StoreError) in try tpm.epoch(ofVault: id) }
    }

    /// Remembers an epoch in the TPM's own memory, of which a vault takes 8 bytes. One that it knows already changes nothing,
    /// so two programs may tell it the same at once.
    /// - Throws: ``StoreError/Code/failed`` for a lower one than it knows; ``StoreError/Code/full`` when the TPM has no room;
    ///   ``StoreError/Code/denied`` when its owner has set a password.
    public func remember(epoch: UInt64, ofVault id: String) throws(StoreError) {
        try TPMAccess.with(tcti) { (tpm: any TPMOperations) throws(StoreError) in
            try tpm.remember(epoch: epoch, ofVault: id)
        }
    }

    /// Gives the room of a vault that is no more back to the TPM. It is no error when there is none.
    public func forgetEpoch(ofVault id: String) throws(StoreError) {
        try TPMAccess.with(tcti) { (tpm: any TPMOperations) throws(StoreError) in try tpm.forgetEpoch(ofVault: id) }
    }
}

/// A count that copies share.
final class OperationCount: Sendable {
    private let value = Atomic(0)

    var count: Int { value.load(ordering: .relaxed) }

    func increment() { value.add(1, ordering: .relaxed) }
}
