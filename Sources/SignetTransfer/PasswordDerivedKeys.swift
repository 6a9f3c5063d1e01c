import SignetCore
import SignetStorage

extension PassphraseKey {
    /// Derives the key of another program's file by PBKDF2.
    ///
    /// The caller must have checked the number of rounds.
    static func derived(
        from passphrase: Secret, salt: [UInt8], rounds: Int, hash: Hash, as format: ImportFormat, part: String
    ) throws(ImportError) -> Secret {
        do throws(StoreError) {
            return try pbkdf2(passphrase, salt: salt, rounds: rounds, hash: hash, operation: "open \(format.title)")
        } catch {
            throw ImportError(.tooCostly, format, part, error.reason)
        }
    }
}

extension Argon2 {
    /// The costs of Argon2id, as a file has them or as its program uses them.
    typealias FileCost = (memoryKiB: Int64, iterations: Int64, parallelism: Int64)

    /// Derives the key of another program's file, of 32 bytes, with Argon2id.
    ///
    /// The costs come from the file or are those of the program; they are checked here.
    static func fileKey(
        from passphrase: Secret, salt: [UInt8], cost: FileCost, as format: ImportFormat, part: String
    ) throws(ImportError) -> Secret {
        guard let iterations = Int(exactly: cost.iterations), let memoryKiB = Int(exactly: cost.memoryKiB),
            let parallelism = Int(exactly: cost.parallelism),
            isAcceptable(iterations: iterations, memoryKiB: memoryKiB, parallelism: parallelism)
        else { throw ImportError(.tooCostly, format, part, "the cost of Argon2 is out of bounds") }
        do throws(StoreError) {
            return try key(
                .id, password: passphrase, salt: salt, iterations: iterations, memoryKiB: memoryKiB, parallelism: parallelism,
                length: 32)
        } catch {
            throw ImportError(.tooCostly, format, part, error.reason)
        }
    }
}
