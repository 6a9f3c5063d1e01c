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
