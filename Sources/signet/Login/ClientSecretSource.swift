import Foundation
import SignetCore
import SignetOAuth
import SignetStorage

/// The sources of a client's secret, beside the vault: a file, a line of standard input, and a systemd credential.
///
/// It is never an argument or an environment variable, which other users and child processes can read.
enum ClientSecretSource {
    /// The systemd credential of a service that uses a login.
    static let credentialName = "signet-client-secret"

    private static let option = "--client-secret-file"

    /// Reads the secret from the file that the option names.
    /// - Parameter file: The path of a private file, or `-` for a line of standard input. At a terminal that line is hidden.
    /// - Returns: The secret.
    /// - Throws: `StoreError` when the file isn't private or can't be read, when its content isn't a secret, or when the user cancels
    ///   the prompt.
    static func secret(inFile file: String) throws(StoreError) -> Secret {
        guard file == TransferFile.standardStream else { return try ClientSecretFile.secret(at: file) }
        // Only one line is read: the lines after it are answers to the journey.
        let isTyped = isatty(STDIN_FILENO) == 1
        let line: Secret
        do throws(StoreError) {
            line = try PassphraseSource(
                descriptor: isTyped ? nil : STDIN_FILENO, prompt: "Secret of the client: ", option: option,
                operation: "read the client secret"
            ).passphrase()
        } catch {
            // No key of the vault is missing.
            guard error.code == .keyUnavailable else { throw error }
            throw StoreError(.invalid, error.operation, error.reason)
        }
        return try ClientSecretFile.secret(in: line.bytes, of: "standard input")
    }

    /// Returns the secret that systemd passed to this process; nil without one.
    /// - Throws: `ProfileError` when other users could have read or written the credential, or when its content isn't a secret.
    static func handedOver() throws(ProfileError) -> Secret? {
        guard let directory = ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"], directory.hasPrefix("/") else {
            return nil
        }
        do throws(StoreError) {
            guard let bytes = try CredentialFile.contents(credentialName, in: directory, limit: ClientSecretFile.maxSize) else {
                return nil
            }
            return try ClientSecretFile.secret(in: bytes, of: "the credential \(credentialName)")
        } catch {
            throw ProfileError("client.authentication", .value("has no secret: \(error.description)"))
        }
    }

    /// The error for a client without a secret.
    static var missing: ProfileError {
        ProfileError(
            "client.authentication",
            .value("has no secret; give it with 'signet login \(option) FILE', or as the systemd credential \(credentialName)"))
    }
}
