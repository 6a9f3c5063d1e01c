import Crypto

/// The NV indices in which a TPM stores the epoch of a vault: docs/reference/tpm-formats.md, section "Epoch".
///
/// An epoch is stored in a bit field of 64 bits: an NV index whose bits can only be set. Its base is part of the definition of
/// the index, which cannot be changed. Bit n stands for the epoch base + 1 + n, and the highest bit that is set counts. If two
/// programs set the same bit, the epoch is the same. If they both incremented a counter instead, it would count twice, and the
/// vault would look as if it had been rolled back.
struct TPMEpochRange {
    private let identity: [UInt8]

    init(vault id: String) {
        identity = LengthPrefixed.bytes(Array(id.utf8))
    }

    static let bits: UInt64 = 64
    private static let ownerRange: (first: UInt32, mask: UInt32) = (0x0180_0000, 0x003F_FFFF)
    private static let tries: UInt8 = 4

    /// The candidate NV indices, in order, in the range that belongs to the owner (TCG, "Registry of Reserved TPM 2.0 Handles").
    ///
    /// The next one is used when another program occupies an index.
    var indices: [UInt32] {
        (0..<Self.tries).map { number in
            let digest = digest("signet epoch index 1", [number])
            return Self.ownerRange.first | digest.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } & Self.ownerRange.mask
        }
    }

    /// The password for reading and setting the bits, derived from the vault's ID.
    ///
    /// Its last byte is never zero, because TPMs remove trailing zeros.
    var password: [UInt8] {
        var bytes = digest("signet epoch password 1")
        bytes[31] |= 1
        return bytes
    }

    /// Returns the mark that identifies an index as this vault's and contains its base.
    ///
    /// It is stored in the policy field of the index, which has no other use here.
    func mark(base: UInt64) -> [UInt8] {
        withUnsafeBytes(of: base.bigEndian) { Array($0) } + markEnd
    }

    /// Returns the base in a mark; nil when the mark is not this vault's.
    func base(ofMark mark: [UInt8]) -> UInt64? {
        guard mark.count == 32, Array(mark.dropFirst(8)) == markEnd else { return nil }
        return mark.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private var markEnd: [UInt8] { Array(digest("signet epoch mark 1").prefix(24)) }

    private func digest(_ purpose: String, _ more: [UInt8] = []) -> [UInt8] {
        Array(SHA256.hash(data: Array(purpose.utf8) + identity + more))
    }

    /// Returns the epoch that `bits` stand for; nil when no bit is set.
    static func epoch(base: UInt64, bits: UInt64) -> UInt64? {
        bits == 0 ? nil : base &+ Self.bits &- UInt64(bits.leadingZeroBitCount)
    }

    /// Returns the bit that stands for `epoch`; nil when it is outside of the 64 epochs after `base`.
    static func bit(for epoch: UInt64, base: UInt64) -> UInt64? {
        let number = epoch &- base &- 1
        return number < bits ? 1 << number : nil
    }
}
