public import SignetCore

/// A passphrase that the user knows, from which scrypt (RFC 7914) derives a key.
///
/// On any machine, the protection is as strong as the passphrase is hard to guess. It is also suited as a second slot, which
/// survives the loss of a TPM or a keyring.
///
/// The passphrase is requested when a key is needed, and not kept. A passphrase that is valid UTF-8 is first converted to
/// Unicode's composed form (NFC), so that the encoding of an `é` does not depend on the keyboard. Other bytes are used unchanged.
/// Nothing is trimmed: a trailing newline is part of the passphrase.
public struct PassphraseProtector: KeyProtector {
    /// The name `passphrase`.
    public let name = Self.slotName
    /// The name of the key protector in a header.
    static let slotName = "passphrase"

    private let cost: ScryptCost
    private let ask: @Sendable () throws(StoreError) -> Secret

    /// Creates a key protector that asks for its passphrase.
    /// - Parameters:
    ///   - cost: The cost of new wrappings. An existing wrapping contains its own cost.
    ///   - ask: Returns the passphrase. It is called once for each wrapping and unwrapping and may block. It throws
    ///     ``StoreError/Code/keyUnavailable`` when the user cannot be asked, and ``StoreError/Code/cancelled`` when the user
    ///     cancels.
    public init(cost: ScryptCost = .default, ask: @escaping @Sendable () throws(StoreError) -> Secret) {
        self.cost = cost
        self.ask = ask
    }

    /// Seals `dataKey` with the passphrase and a new random salt, at the cost of this key protector.
    /// - Throws: ``StoreError/Code/invalid`` when the passphrase is empty; the error of the closure that asks for it.
    public func wrap(_ dataKey: Secret, context: [UInt8]) throws(StoreError) -> [UInt8] {
        let salt = Secret.random(byteCount: Self.saltLength).bytes
        let header = [WrappedKey.version, UInt8(cost.logRounds), UInt8(cost.blockSize), UInt8(cost.parallelism)] + salt
        return try WrappedKey.seal(
            dataKey, with: key(salt: salt, cost: cost, operation: "seal vault", empty: .invalid), header: header, context: context
        )
    }

    /// Opens what ``wrap(_:context:)`` sealed, at the cost that is stored in it.
    /// - Throws: ``StoreError/Code/keyMismatch`` for another passphrase; ``StoreError/Code/corrupt`` when the stored cost is out
    ///   of bounds, before the passphrase is requested; ``StoreError/Code/newerFormat``.
    public func unwrap(_ wrapped: [UInt8], context: [UInt8]) throws(StoreError) -> Secret {
        let slot = try WrappedKey(wrapped, headerLength: 4 + Self.saltLength)
        let numbers = slot.header[1..<4].map(Int.init)
        guard let cost = ScryptCost(logRounds: numbers[0], blockSize: numbers[1], parallelism: numbers[2]) else {
            throw WrappedKey.damaged
        }
        let key = try key(salt: Array(slot.header[4...]), cost: cost, operation: "open vault", empty: .keyUnavailable)
        guard let dataKey = slot.open(with: key, context: context) else {
            throw StoreError(
                .keyMismatch, "open vault", "this is not the passphrase the vault was sealed with, or the slot is damaged")
        }
        return dataKey
    }

    private static let saltLength = 16

    private func key(
        salt: [UInt8], cost: ScryptCost, operation: String, empty: StoreError.Code
    ) throws(StoreError) -> Secret {
        let passphrase = try ask()
        guard passphrase.count > 0 else {
            throw StoreError(empty, operation, "the passphrase is empty; an empty one protects nothing")
        }
        return try PassphraseKey.scrypt(PassphraseKey.composed(passphrase), salt: salt, cost: cost, operation: operation)
    }
}

/// The cost of one guess of a passphrase: the parameters of scrypt (RFC 7914, section 2).
public struct ScryptCost: Sendable, Hashable {
    /// The logarithm to base 2 of the number of rounds (N), 10 to 20.
    public let logRounds: Int
    /// The block size (r) in units of 128 bytes, 1 to 16.
    public let blockSize: Int
    /// The number of independent computations (p), 1 to 16.
    public let parallelism: Int

    /// The default: 2^17 rounds of 1 KiB, which take 128 MiB of memory, and less than a second on a desktop.
    public static let `default` = ScryptCost(uncheckedLogRounds: 17, blockSize: 8, parallelism: 1)

    /// Creates a cost, or returns nil when it is out of bounds.
    ///
    /// A lower cost would hardly slow down an attacker. A cost above 1 GiB or 2^25 block computations (about half a minute) would
    /// let a damaged header block the process that opens the vault.
    public init?(logRounds: Int, blockSize: Int = 8, parallelism: Int = 1) {
        guard (10...20).contains(logRounds), (1...16).contains(blockSize), (1...16).contains(parallelism) else { return nil }
        self.init(uncheckedLogRounds: logRounds, blockSize: blockSize, parallelism: parallelism)
        guard byteCount <= 1 << 30, (blockSize * parallelism) << logRounds <= 1 << 25 else { return nil }
    }

    private init(uncheckedLogRounds logRounds: Int, blockSize: Int, parallelism: Int) {
        self.logRounds = logRounds
        self.blockSize = blockSize
        self.parallelism = parallelism
    }

    /// The memory that one guess takes, in bytes.
    public var byteCount: Int { 128 * blockSize << logRounds }
}
