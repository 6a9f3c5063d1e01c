import SignetCore
import SignetStorage

extension PassphraseKey {
    /// The key of a file whose program makes it by PBKDF2; the cost must have been checked.
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
