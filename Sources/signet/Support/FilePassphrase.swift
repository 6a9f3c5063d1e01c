import ArgumentParser
import Foundation
import SignetCore
import SignetStorage

/// The passphrase of an encrypted file, for the commands that read or write one.
///
/// It comes from a file descriptor, for a backup from a systemd credential, or from the user at the terminal.
struct FilePassphraseOptions: ParsableArguments {
    @Option(name: .customLong("file-passphrase-fd"), help: "Read the file's passphrase from this open file descriptor.")
    var descriptor: Int32?

    private static let option = "--file-passphrase-fd"

    /// The systemd credential of a service that makes or reads backups.
    static let credential = "signet-archive-passphrase"

    /// Returns the passphrase of an existing file.
    func passphrase(of file: String, isArchive: Bool) throws -> Secret {
        if descriptor == nil, isArchive, let given = try handedOver() { return given }
        let name = file == TransferFile.standardStream ? "standard input" : file
        return try PassphraseSource(descriptor: descriptor, prompt: "Passphrase of \(name): ", option: Self.option).passphrase()
    }

    /// Returns the passphrase for a new backup.
    func newPassphrase() throws -> Secret {
        if descriptor == nil, let given = try handedOver() { return given }
        return try PassphraseSource(
            descriptor: descriptor, prompt: "New passphrase, for this backup: ", isNew: descriptor == nil, option: Self.option
        ).passphrase()
    }

    private func handedOver() throws -> Secret? {
        guard let directory = ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"], directory.hasPrefix("/"),
            let bytes = try CredentialFile.contents(Self.credential, in: directory, limit: 1024)
        else { return nil }
        return Secret(bytes.prefix { $0 != UInt8(ascii: "\n") })
    }
}
