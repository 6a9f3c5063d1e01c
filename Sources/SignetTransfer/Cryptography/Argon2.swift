package import SignetCore
package import SignetStorage

/// The password hash Argon2 (RFC 9106), for files of other programs whose key it derives.
///
/// The lanes are computed one after another. See `docs/decisions/034-argon2.md`.
package enum Argon2 {
    /// The maximum memory in KiB, 1 GiB.
    ///
    /// A hostile file could otherwise take all memory of the machine.
    package static let maxMemoryKiB = 1 << 20
    /// The maximum number of blocks of 1 KiB that all iterations write: as many as 64 iterations over 1 GiB.
    ///
    /// This takes a machine about a minute.
    package static let maxBlocks = 1 << 26
    /// The maximum number of lanes.
    package static let maxParallelism = 64

    /// Returns true for a cost within the limits of RFC 9106 section 3.1 and of this type.
    /// - Parameters:
    ///   - iterations: The number of passes over the memory (t).
    ///   - memoryKiB: The memory in KiB (m).
    ///   - parallelism: The number of lanes (p).
    /// - Returns: True for a cost that this type computes.
    package static func isAcceptable(iterations: Int, memoryKiB: Int, parallelism: Int) -> Bool {
        (1...maxParallelism).contains(parallelism) && (8 * parallelism...maxMemoryKiB).contains(memoryKiB)
            && (1...maxBlocks / memoryKiB).contains(iterations)
    }

    /// The variants, by their numbers in RFC 9106 section 3.2 (y).
    package enum Variant: Int, Sendable {
        case d = 0
        case id = 2
    }

    /// Derives a key.
    /// - Parameters:
    ///   - variant: The variant.
    ///   - password: The password (P).
    ///   - salt: The salt (S).
    ///   - iterations: The number of passes over the memory (t).
    ///   - memoryKiB: The memory in KiB (m).
    ///   - parallelism: The number of lanes (p).
    ///   - version: The version of the algorithm, `0x10` or `0x13`.
    ///   - length: The length of the key in bytes, 4 to 1,024.
    ///   - secret: The secret value (K).
    ///   - associatedData: The associated data (X).
    /// - Returns: The key.
    /// - Throws: ``StoreError/Code/failed`` when a value is out of bounds, or when there is not enough memory. See
    ///   ``isAcceptable(iterations:memoryKiB:parallelism:)``.
    package static func key(
        _ variant: Variant, password: Secret, salt: [UInt8], iterations: Int, memoryKiB: Int, parallelism: Int,
        version: Int = 0x13, length: Int, secret: [UInt8] = [], associatedData: [UInt8] = []
    ) throws(StoreError) -> Secret {
        guard isAcceptable(iterations: iterations, memoryKiB: memoryKiB, parallelism: parallelism),
            version == 0x10 || version == 0x13, (4...1_024).contains(length)
        else { throw StoreError(.failed, "derive key", "the cost or the version of Argon2 is out of bounds") }
        let segmentLength = memoryKiB / (4 * parallelism)
        let blockCount = 4 * parallelism * segmentLength
        guard let memory = WorkingMemory(byteCount: blockCount * 1_024), let scratch = WorkingMemory(byteCount: 5 * 1_024) else {
            throw StoreError(.failed, "derive key", "Argon2 needs \(memoryKiB / 1_024) MiB of memory")
        }
        var first: [UInt8] = []
        for number in [parallelism, length, memoryKiB, iterations, version, variant.rawValue] {
            first += LittleEndian.bytes32(number)
        }
        for value in [password.bytes, salt, secret, associatedData] {
            first += LittleEndian.bytes32(value.count) + value
        }
        let fill = Argon2Fill(
            type: variant.rawValue, version: version, iterations: iterations, parallelism: parallelism,
            segmentLength: segmentLength,
            memory: memory.start.bindMemory(to: UInt64.self, capacity: blockCount * 128),
            scratch: scratch.start.bindMemory(to: UInt64.self, capacity: 5 * 128))
        // The pointers do not keep the memory.
        defer { withExtendedLifetime((memory, scratch)) {} }
        fill.begin(with: BLAKE2b.hash(first, length: 64))
        fill.run()
        return Secret(hash(fill.lastBlock(), length: length))
    }

    /// Returns the hash of variable length H' (RFC 9106 section 3.3).
    static func hash(_ message: [UInt8], length: Int) -> [UInt8] {
        let first = LittleEndian.bytes32(length) + message
        guard length > 64 else { return BLAKE2b.hash(first, length: length) }
        var block = BLAKE2b.hash(first, length: 64)
        var result = Array(block.prefix(32))
        while length - result.count > 64 {
            block = BLAKE2b.hash(block, length: 64)
            result += block.prefix(32)
        }
        return result + BLAKE2b.hash(block, length: length - result.count)
    }
}
