import Crypto

/// Where the epoch of a vault stands in a TPM: docs/format-tpm.md, section "Epoch".
///
/// An epoch is kept in a bit field of 64 bits, an index of the kind whose bits can only be set. Its base is part of the
/// index's own definition, which nobody can change; bit n stands for the epoch base + 1 + n, and the highest bit counts.
/// Two programs that set the same bit set it once, where two that increment a counter would count twice, and the vault would
/// look as if it had been put back.
struct TPMEpochPlace {
    private let identity: [UInt8]

    init(vault id: String) {
        identity = LengthPrefixed.bytes(Array(id.utf8))
    }

    static let bits: UInt64 = 64
    private static let ownerRange: (first: UInt32, mask: UInt32) = (0x0180_0000, 0x003F_FFFF)
    private static let tries: UInt8 = 4

    /// The indices it may stand at, in the range that is the owner's (TCG, "Registry of Reserved TPM 2.0 Handles"): the next
    /// where another program took one.
    var indices: [UInt32] {
        (0..<Self.tries).map { number in
            let digest = digest("signet epoch index 1", [number])
            return Self.ownerRange.first | digest.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } & Self.ownerRange.mask
        }
    }

    /// What whoever reads or sets the bits must know: the vault's id. The last byte is never zero, since TPMs drop zeros there.
    var password: [UInt8] {
        var bytes = digest("signet epoch password 1")
        bytes[31] |= 1
        return bytes
    }

    /// What marks an index as this vault's, with its base: the place for a policy, which no right refers to here.
    func mark(base: UInt64) -> [UInt8] {
        withUnsafeBytes(of: base.bigEndian) { Array($0) } + markEnd
    }

    /// The base in a mark; nil when it is not this vault's.
    func base(ofMark mark: [UInt8]) -> UInt64? {
        guard mark.count == 32, Array(mark.dropFirst(8)) == markEnd else { return nil }
        return mark.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private var markEnd: [UInt8] { Array(digest("signet epoch mark 1").prefix(24)) }

    private func digest(_ purpose: String, _ more: [UInt8] = []) -> [UInt8] {
        Array(SHA256.hash(data: Array(purpose.utf8) + identity + more))
    }

    /// The epoch that `bits` stand for; nil when none is set.
    static func epoch(base: UInt64, bits: UInt64) -> UInt64? {
        bits == 0 ? nil : base &+ Self.bits &- UInt64(bits.leadingZeroBitCount)
    }

    /// The bit that stands for `epoch`; nil when it lies outside of what begins at `base`.
    static func bit(for epoch: UInt64, base: UInt64) -> UInt64? {
        let number = epoch &- base &- 1
        return number < bits ? 1 << number : nil
    }
}
