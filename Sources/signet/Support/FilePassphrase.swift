import ArgumentParser
import Foundation
import SignetCore
import SignetStorage
import SignetTransfer

/// The passphrase of an encrypted file, for the commands that read or write one.
///
/// It comes from a file descriptor, for a backup from a systemd credential, or from the user at the terminal.
struct FilePassphraseOptions: ParsableArguments {
    @Option(
        name: .customLong("file-passphrase-fd"),
        help: ArgumentHelp("Read the file's passphrase from this open file descriptor.", valueName: "fd"))
    var descriptor: Int32?

    private static let option = "--file-passphrase-fd"

    /// The systemd credential of a service that makes or reads backups.
    static let credential = "signet-archive-passphrase"

    /// Opens an existing file with its passphrase, and opens it again after each one that the user mistyped at the terminal.
    /// - Parameters:
    ///   - file: The path of the file, or `-` for standard input.
    ///   - isArchive: True for a backup, whose passphrase may be a systemd credential.
    ///   - advice: The line above the first prompt, which tells what passphrase is needed; nil for none.
    ///   - open: Opens the file. It is called at most ``PassphraseSource/maxTries`` times.
    /// - Returns: The result of `open`.
    /// - Throws: The error of the last call; `StoreError` without a passphrase.
    func opening<R>(
        _ file: String, isArchive: Bool, advice: TerminalText? = nil, _ open: (Secret) throws -> R
    ) throws -> R {
        if descriptor == nil, isArchive, let given = try handedOver() { return try open(given) }
        let name = TransferFile.inputName(file)
        var source = PassphraseSource(descriptor: descriptor, prompt: "Passphrase of \(name): ", option: Self.option)
        if let advice { source.introduction = { advice } }
        for _ in 1..<PassphraseSource.maxTries {
            let given = try source.passphrase()
            do {
                return try open(given)
            } catch let error as ImportError {
                guard error.code == .wrongPassphrase, source.isTyped else { throw error }
                source.introduction = { "\(name) does not open with this passphrase. Try again." }
            }
        }
        return try open(try source.passphrase())
    }

    /// Returns the passphrase for a new file, and warns of one that is easy to guess.
    /// - Parameters:
    ///   - thing: The file, for the prompt and the warning.
    ///   - isArchive: True for a backup, whose passphrase may be a systemd credential.
    /// - Returns: The passphrase.
    /// - Throws: `StoreError` without a passphrase.
    func newPassphrase(of thing: TerminalText = "this backup", isArchive: Bool = true) throws -> Secret {
        if descriptor == nil, isArchive, let given = try handedOver() {
            PassphraseStrength.warn(about: given, of: thing)
            return given
        }
        return try PassphraseSource(
            descriptor: descriptor, prompt: "New passphrase, for \(thing): ", isNew: descriptor == nil, option: Self.option,
            protectedThing: thing
        ).passphrase()
    }

    private func handedOver() throws -> Secret? {
        guard let directory = ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"], directory.hasPrefix("/"),
            let bytes = try CredentialFile.contents(Self.credential, in: directory, limit: 1024)
        else { return nil }
        return Secret(bytes.prefix { $0 != UInt8(ascii: "\n") })
    }
}
