public import SignetCore

/// A passphrase that a person knows, made into a key with scrypt (RFC 7914). It protects as well as the passphrase is hard to
/// guess, on any machine; it is also the second slot that survives the loss of a TPM or a keyring.
///
/// The passphrase is asked for when a key is needed, and not kept. One that is UTF-8 is brought into Unicode's composed form
/// (NFC) first, so that it does not matter how a keyboard writes an `é`; other bytes are taken as they are. Nothing is cut
/// off: a line end at its end is part of it.
public struct PassphraseProtector: KeyProtector {
    /// `passphrase`.
    public let name = "passphrase"

    private let cost: ScryptCost
    private let ask: @Sendable () throws(StoreError) -> Secret

    /// A key protector that asks for its passphrase.
    /// - Parameters:
    ///   - cost: What a new wrapping costs. What is wrapped already says itself what it cost.
    ///   - ask: Gives the passphrase. It is called once for each wrapping and opening, may block, and throws
    ///     ``StoreError/Code/keyUnavailable`` when nobody is there to answer, ``StoreError/Code/givenUp`` when they give up.
    public init(cost: ScryptCost = .standard, ask: @escaping @Sendable () throws(StoreError) -> Secret) {
        self.cost = cost
        self.ask = ask
    }

    /// Seals `dataKey` with the passphrase and a new random salt, at the cost this key protector was given.
    /// - Throws: ``StoreError/Code/invalid`` when the passphrase is empty, or what asking for it throws.
    public func wrap(_ dataKey: Secret, context: [UInt8]) throws(StoreError) -> [UInt8] {
        let salt = Secret.random(byteCount: Self.saltLength).bytes
        let header = [WrappedKey.version, UInt8(cost.logRounds), UInt8(cost.blockSize), UInt8(cost.parallelism)] + salt
        return try WrappedKey.seal(
            dataKey, with: key(salt: salt, cost: cost, operation: "seal vault", empty: .invalid), header: header, context: context
        )
    }

    /// Opens what ``wrap(_:context:)`` sealed, at the cost that is written in it.
    /// - Throws: ``StoreError/Code/keyMismatch`` for another passphrase; ``StoreError/Code/corrupt``, before anything is asked
    ///   or computed, when the cost is one that no Signet writes; ``StoreError/Code/newerFormat``.
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

/// What one guess of a passphrase costs whoever makes it: the parameters of scrypt (RFC 7914, section 2).
public struct ScryptCost: Sendable, Hashable {
    /// The logarithm to base 2 of the number of rounds (N), 10 to 20.
    public let logRounds: Int
    /// The size of a block (r) in units of 128 bytes, 1 to 16.
    public let blockSize: Int
    /// How many independent computations there are (p), 1 to 16.
    public let parallelism: Int

    /// 2^17 rounds of 1 KiB: 128 MiB, and less than a second on a desktop.
    public static let standard = ScryptCost(uncheckedLogRounds: 17, blockSize: 8, parallelism: 1)

    /// Nil for a cost that is out of bounds: one that a guess would hardly feel, or one above 1 GiB or 2^25 block
    /// computations (about half a minute), with which a damaged header could hold up whoever opens it.
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

    /// How much memory a guess takes, in bytes.
    public var byteCount: Int { 128 * blockSize << logRounds }
}
