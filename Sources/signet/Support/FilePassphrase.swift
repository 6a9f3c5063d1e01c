import ArgumentParser
import SignetCore
import SignetStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How the verbs that read or write an encrypted file are given its passphrase: on a descriptor; for a backup, by systemd as a
/// credential; by a person at the terminal.
struct FilePassphraseOptions: ParsableArguments {
    @Option(name: .customLong("file-passphrase-fd"), help: "Read the file's passphrase from this open file descriptor.")
    var descriptor: Int32?

    private static let option = "--file-passphrase-fd"

    /// The credential that systemd hands to a service which makes or reads backups.
    static let credential = "signet-archive-passphrase"

    /// The passphrase of a file that is there.
    func passphrase(of file: String, isArchive: Bool) throws -> Secret {
        if descriptor == nil, isArchive, let given = try handedOver() { return given }
        let name = file == TransferFile.standardStream ? "standard input" : file
        return try PassphraseSource(descriptor: descriptor, prompt: "Passphrase of \(name): ", option: Self.option).passphrase()
    }

    /// The passphrase of a backup that is to be made.
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
