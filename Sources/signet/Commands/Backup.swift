import ArgumentParser
import Foundation
import SignetAuthenticator
import SignetCore
import SignetStorage
import SignetTransfer

struct Backup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Make, check and restore an encrypted copy of all accounts.",
        discussion: """
            A backup opens with its own passphrase, on any machine: it does not need the vault, its key or its TPM. The \
            passphrase is typed, or read from --file-passphrase-fd, or from systemd's credential signet-archive-passphrase.

            EXAMPLES:
              signet backup create signet.backup
              signet backup verify signet.backup
              signet backup restore signet.backup
            """,
        subcommands: [Create.self, Verify.self, Restore.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create", abstract: "Make a backup.",
            discussion: """
                EXAMPLES:
                  signet backup create signet.backup
                  signet backup create --notifications signet.backup
                  signet backup create - | ssh nas 'cat > signet.backup'
                """)

        @Argument(help: "The file to write, or '-' for standard output.", completion: .file())
        var file: String

        @Flag(name: .customLong("notifications"), help: "Keep the push messages that came, too.")
        var includesNotifications = false

        @Flag(
            name: .customLong("skip-damaged"),
            help: "Make it even if some records cannot be read, or the vault is damaged. It does not count as a backup then.")
        var skipsDamaged = false

        @Flag(help: "Overwrite the file if it is there.")
        var replace = false

        @OptionGroup var filePassphrase: FilePassphraseOptions
        @OptionGroup var options: VaultOptions

        @Flag(help: "Print JSON: file, accounts, mechanisms, notifications, damaged, bytes, recorded.")
        var json = false

        func run() async throws {
            try TransferFile.checkIsFree(file, replacing: replace)
            let (session, lostCount) = try skipsDamaged ? Session.salvage(options) : (Session.open(options), nil)
            // Also a large vault, which opening does not verify: what is missing must not be missing in a backup.
            if !skipsDamaged { try session.verifyRecords() }
            let (archive, damaged) = try await session.offline { authenticator in
                let archive = try await authenticator.archive(
                    includingNotifications: includesNotifications, skippingDamaged: skipsDamaged)
                return (archive, skipsDamaged ? try await authenticator.damagedRecords() : [])
            }
            let bytes = try archive.sealed(with: filePassphrase.newPassphrase())
            let isWritten = try write(bytes)
            // Output to a pipe or with missing records may not be a backup, so it isn't recorded as the last one.
            let isRecorded = isWritten && damaged.isEmpty && lostCount == nil
            if isRecorded { try recordBackup(in: session) }
            for record in damaged { Console.error("signet: \(record.error)") }
            // A lost record that another one names is among the damaged ones too.
            let damagedCount = max(damaged.count, lostCount ?? 0)
            let lines = report(archive, damaged: damagedCount, byteCount: bytes.count, isRecorded: isRecorded)
            for line in lines { isWritten ? Console.line(line) : Console.error(line) }
        }

        /// Writes the backup.
        ///
        /// Returns true for a file, and false for standard output.
        private func write(_ bytes: [UInt8]) throws -> Bool {
            guard file != TransferFile.standardStream else {
                Console.bytes(bytes)
                return false
            }
            try TransferFile.write(bytes, to: file, replacing: replace)
            return true
        }

        private func recordBackup(in session: Session) throws {
            do throws(StoreError) {
                try session.vault.recordBackup(at: Int(session.now.timeIntervalSince1970))
            } catch {
                Console.error(
                    "signet: \(file) is whole, but the vault could not record it, and 'signet doctor' will not show it")
                throw error
            }
        }

        private func report(_ archive: AccountArchive, damaged: Int, byteCount: Int, isRecorded: Bool) -> [TerminalText] {
            if json {
                var members = archive.counts
                members["file"] = .string(file)
                members["damaged"] = .integer(Int64(damaged))
                members["bytes"] = .integer(Int64(byteCount))
                members["recorded"] = .bool(isRecorded)
                return [JSONText.line(.object(members))]
            }
            let destination = file == TransferFile.standardStream ? "standard output" : file
            var lines: [TerminalText] = ["Wrote a backup of \(archive.countsText) to \(destination)"]
            if damaged > 0 { lines.append("\(damaged.of("record")) could not be read and are not in it.") }
            if !isRecorded { lines.append("It is not recorded as the newest backup.") }
            let isFile = file != TransferFile.standardStream
            let argument = isFile ? ShellWord.quoted(file.hasPrefix("-") ? "./\(file)" : file) : "FILE"
            return lines + ["It can't be read without its passphrase. Check it: signet backup verify \(argument)"]
        }
    }

    struct Verify: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify",
            abstract: "Decrypt a backup, and count what is in it and what 'restore' would leave out.",
            discussion: """
                Nothing is imported; no vault is needed.

                EXAMPLES:
                  signet backup verify signet.backup
                """)

        @Argument(help: "The backup, or '-' for standard input.", completion: .file())
        var file: String

        @OptionGroup var plainHTTP: PlainHTTPOptions
        @OptionGroup var filePassphrase: FilePassphraseOptions

        @Flag(help: "Print JSON: format, createdAt, accounts, mechanisms, totp, hotp, push, notifications, skipped.")
        var json = false

        func run() throws {
            let bytes = try ImportSource.bytes(of: file, as: .signet)
            let archive = try Self.open(bytes, of: file, filePassphrase)
            let skipped = archive.content(policy: plainHTTP.policy).skipped
            if json {
                var members = archive.counts
                members["format"] = .integer(Int64(AccountArchive.currentVersion))
                members["createdAt"] = .string(archive.createdAt.text)
                members["skipped"] = skipped.json
                Console.line(JSONText.line(.object(members)))
            } else {
                let what = skipped.isEmpty ? "A whole backup" : "A backup"
                Console.line("\(what) of \(archive.createdAt.text): \(archive.countsText)")
                for line in skipped.lines { Console.line(line) }
            }
            guard skipped.isEmpty else {
                throw Failure(.badInput, "import.damaged", "\(skipped.count) entries of it would be left out by 'restore'")
            }
        }

        private static func open(
            _ bytes: [UInt8], of file: String, _ passphrase: FilePassphraseOptions
        ) throws -> AccountArchive {
            // Format errors are reported before the user is asked for a passphrase.
            do {
                return try AccountArchive(opening: bytes, with: nil)
            } catch {
                guard error.code == .passphraseNeeded else { throw error }
            }
            // Not in the block above, where the compiler crashes on a closure (Swift 6.3.1).
            return try passphrase.opening(file, isArchive: true) { given in try AccountArchive(opening: bytes, with: given) }
        }
    }

    struct Restore: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore", abstract: "Restore the accounts of a backup.",
            discussion: """
                Accounts that are already in the vault are never changed. HOTP codes that were used after the backup was made are \
                printed again: if a server refuses them, log in with the next ones.

                EXAMPLES:
                  signet backup restore --dry-run signet.backup
                  signet backup restore signet.backup
                """)

        @Argument(help: "The backup, or '-' for standard input.", completion: .file())
        var file: String

        @Flag(help: "Only show what would be restored. Changes nothing.")
        var dryRun = false

        @Flag(
            help: "Replace the damaged file of the vault first with what can be read of it. The damaged file is kept beside it.")
        var replaceDamaged = false

        @OptionGroup var plainHTTP: PlainHTTPOptions
        @OptionGroup var filePassphrase: FilePassphraseOptions
        @OptionGroup var options: VaultOptions

        @Flag(help: "Print JSON, as 'signet import' does.")
        var json = false

        func validate() throws {
            if dryRun, replaceDamaged { throw ValidationError("--dry-run changes nothing, and --replace-damaged does") }
        }

        func run() async throws {
            let source = try ImportSource([file], as: .signet, policy: plainHTTP.policy, passphrase: filePassphrase)
            try await Import.store(source, dryRun: dryRun, json: json) {
                try replaceDamaged
                    ? Session.replacingDamaged(options) : Import.session(options, dryRun: dryRun, json: json)
            }
        }
    }
}

extension AccountArchive {
    fileprivate func count(_ kind: Mechanism.KindName) -> Int { mechanisms.count { $0.kindName == kind } }

    fileprivate var counts: [String: JSONValue] {
        let numbers = [
            "accounts": accounts.count, "mechanisms": mechanisms.count, "notifications": notifications.count,
            "totp": count(.totp), "hotp": count(.hotp), "push": count(.push),
        ]
        return numbers.mapValues { .integer(Int64($0)) }
    }

    fileprivate var countsText: String {
        "\(accounts.count.of("account")), \(mechanisms.count.of("mechanism"))"
            + " (totp \(count(.totp)), hotp \(count(.hotp)), push \(count(.push))) and \(notifications.count.of("message"))"
    }
}
