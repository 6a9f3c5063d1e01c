import ArgumentParser
import Foundation
import SignetAuthenticator
import SignetCore
import SignetStorage
import SignetTransfer

struct Sync: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Keep the accounts of several machines the same, through a folder that any file sync moves.",
        discussion: """
            Each machine writes one encrypted file into the folder, and reads the files of the others. Changes on two machines are \
            merged; where both changed the same thing, the newer change stands, and 'signet sync conflicts' has the other value. \
            Push is not synchronized, because a server sends its messages to one device. The codes of a counter are generated on \
            one machine: 'signet sync take' moves them to this one.

            EXAMPLES:
              signet sync init ~/Nextcloud/signet
              signet sync
              signet sync status
              signet sync take 'Harbor Bank:mira'
            """,
        subcommands: [Now.self, Init.self, Status.self, Take.self, Conflicts.self, Leave.self], defaultSubcommand: Now.self)

    struct Now: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "now", abstract: "Synchronize once. This is what 'signet sync' does.",
            discussion: """
                Ends with 65 when a file of another machine could not be read, after everything else was synchronized.

                EXAMPLES:
                  signet sync
                  signet sync now --json
                """)

        @OptionGroup var options: VaultOptions

        @Flag(help: "Print JSON: added, changed, removed, sent, conflicts, counters, skippedFiles, olderFiles.")
        var json = false

        func run() throws {
            let session = try Session.open(options)
            try Sync.report(try VaultSync(session.vault).run(now: session.now), session, json: json)
        }
    }

    struct Init: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "init", abstract: "Begin to synchronize with a folder, or join the machines that do.",
            discussion: """
                The folder must exist. An empty one gets a new passphrase; in another one the passphrase of the other machines is \
                needed. It is asked for once: the vault keeps the key. An attacker with the files can try passphrases, \
                whatever protects the vault, so use a long one.

                EXAMPLES:
                  signet sync init ~/Nextcloud/signet
                  signet sync init ~/Sync/signet --name laptop
                """)

        @Argument(help: "The folder.", completion: .directory)
        var folder: String

        @Option(help: "The name of this machine for the others. The default is its host name.")
        var name: String?

        @Flag(help: "Write the accounts to the folder without asking.")
        var yes = false

        @OptionGroup var filePassphrase: FilePassphraseOptions
        @OptionGroup var options: VaultOptions

        @Flag(help: "Print JSON, as 'signet sync' does.")
        var json = false

        func validate() throws {
            guard !folder.isEmpty else { throw ValidationError("name a folder") }
            guard name.map({ !$0.isEmpty && $0.isSafeToShow }) ?? true else {
                throw ValidationError("the name of a machine has no control characters and is not empty")
            }
        }

        func run() async throws {
            let folder = SyncFolder(path: Self.absolute(self.folder))
            let files = try Self.reading(folder)
            if !yes { try await Self.confirmation(folder, isJoining: !files.isEmpty).ask() }
            let session = try Session.openOrCreate(options, json: json)
            let sync = VaultSync(session.vault)
            let known = (try? sync.settings())?.keys
            let keys = try self.keys(of: files, in: folder, known: known)
            try sync.begin(folder, keys: keys, name: name ?? Session.hostName)
            try Sync.report(try sync.run(now: session.now), session, json: json)
        }

        /// Returns the key of each file, or a new key for an empty folder.
        private func keys(of files: [[UInt8]], in folder: SyncFolder, known: [SyncKey]?) throws -> [SyncKey] {
            guard !files.isEmpty else {
                // The file of a machine that is part of the synchronization was removed: its key is in the vault.
                if let known { return known }
                return [try SyncKey(filePassphrase.newPassphrase(of: "the sync folder", isArchive: false))]
            }
            return try filePassphrase.opening(folder.path, isArchive: false) { given in try Self.keys(of: files, with: given) }
        }

        /// Returns the keys of the files that a passphrase opens.
        /// - Throws: `ImportError` when it opens none of them.
        private static func keys(of files: [[UInt8]], with passphrase: Secret) throws -> [SyncKey] {
            var keys: [SyncKey] = []
            var failure: ImportError?
            for file in files {
                do throws(ImportError) {
                    keys.append(try SyncKey.key(of: file, with: passphrase))
                } catch {
                    failure = failure ?? error
                }
            }
            if keys.isEmpty, let failure { throw failure }
            return keys
        }

        private static func reading(_ folder: SyncFolder) throws -> [[UInt8]] {
            do {
                return try folder.filesToJoin()
            } catch let error as ImportError {
                throw Failure(error, inFile: folder.path)
            }
        }

        private static func confirmation(_ folder: SyncFolder, isJoining: Bool) -> Confirmation {
            let passphrase: TerminalText = isJoining ? "the passphrase of the other machines" : "a passphrase that you choose now"
            return Confirmation(
                warning: """
                    The accounts with their secrets go into \(folder.path), encrypted with \(passphrase). A reader \
                    of these files can try passphrases, without the key of the vault: the passphrase is then the protection.
                    """,
                action: "write them", withoutTerminal: "the secrets of all accounts would go into \(folder.path)",
                declined: "nothing was changed")
        }

        /// Returns an absolute path without a slash at its end.
        private static func absolute(_ path: String) -> String {
            let current = FileManager.default.currentDirectoryPath
            var absolute = path.hasPrefix("/") ? path : current + "/" + path
            absolute = URL(filePath: absolute).standardizedFileURL.path(percentEncoded: false)
            while absolute.count > 1, absolute.hasSuffix("/") { absolute.removeLast() }
            return absolute
        }
    }

    struct Status: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Show the folder, the machines, and the accounts that were removed. Changes nothing.",
            discussion: """
                EXAMPLES:
                  signet sync status
                  signet sync status --json
                """)

        @OptionGroup var options: VaultOptions

        @Flag(help: "Print JSON: folder, isThere, machine, machines, accounts, counters, removals, unreadable, conflicts.")
        var json = false

        func run() throws {
            let settings = try Sync.settings(of: Session.open(options))
            let description = SyncStatusDescription(settings)
            for line in description.lines(json: json) { Console.line(line) }
        }
    }

    struct Take: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "take", abstract: "Generate the codes of a counter on this machine from now on, after asking.",
            discussion: """
                The counter continues \(VaultSync.defaultJump) codes later, so that no code repeats although the other machine may \
                have used some since it last synchronized. If the server refuses the code, resynchronize as its help page says, \
                usually by entering two codes in a row.

                EXAMPLES:
                  signet sync take 'Harbor Bank:mira'
                  signet sync take mira --leave-out 5 --yes
                """)

        @Argument(help: "The account: its name, its issuer, or issuer:account.", completion: .accounts([.hotp]))
        var name: String

        @Option(help: ArgumentHelp("The number of codes to leave out.", valueName: "number"))
        var leaveOut = VaultSync.defaultJump

        @Flag(help: "Take the counter without asking.")
        var yes = false

        @OptionGroup var options: VaultOptions

        @Flag(help: "Print JSON, as 'signet sync' does.")
        var json = false

        func validate() throws {
            guard (0...VaultSync.maxJump).contains(leaveOut) else {
                throw ValidationError("--leave-out takes a number from 0 to \(VaultSync.maxJump).")
            }
        }

        func run() async throws {
            let session = try Session.open(options)
            _ = try Sync.settings(of: session)
            let selection = try await Selection.choose(
                name, kinds: [.hotp], with: OpenedAuthenticator(session: session), asks: !json && PickList.isPossible)
            guard let owner = selection.mechanism.counterOwner else {
                throw Failure(SyncError(.ownCounter, "this machine generates the codes of \(selection.title) already"))
            }
            if !yes { try await confirmation(selection, owner).ask() }
            let taking = VaultSync.Taking(account: selection.account.account.id, jump: leaveOut)
            let report = try VaultSync(session.vault).run(now: session.now, taking: taking)
            if !json {
                Console.line("The codes of \(selection.title) are generated here now, \(leaveOut.of("code")) later.")
                Console.line("Use none of them on \(owner) before it has synchronized.")
            }
            try Sync.report(report, session, json: json)
        }

        private func confirmation(_ selection: Selection, _ owner: String) -> Confirmation {
            Confirmation(
                warning: """
                    \(owner) generates the codes of \(selection.title). This machine would continue the counter, \
                    \(leaveOut.of("code")) later; a code may repeat if \(owner) has used more than that since it last synchronized.
                    """,
                action: "take the counter", withoutTerminal: "\(owner) would no longer generate the codes of \(selection.title)",
                declined: "nothing was changed")
        }
    }

    struct Conflicts: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "conflicts", abstract: "List the values that were lost in conflicts, or store one of them again.",
            discussion: """
                A secret is stored again as an account with a second name, beside the one that stands. Other values replace those \
                that stand. The next 'signet sync' sends the change.

                EXAMPLES:
                  signet sync conflicts
                  signet sync conflicts --restore 2
                """)

        @Option(help: ArgumentHelp("Store the value of this conflict again.", valueName: "number"))
        var restore: Int?

        @OptionGroup var options: VaultOptions

        @Flag(help: "Print JSON, one conflict a line: number, issuer, account, what, kept, lost, time, value.")
        var json = false

        func run() throws {
            let session = try Session.open(options)
            let settings = try Sync.settings(of: session)
            if let restore {
                let id = try VaultSync(session.vault).restore(restore)
                let members: [String: JSONValue] = ["issuer": .string(id.issuer), "account": .string(id.accountName)]
                let text: TerminalText = "Restored \(id.issuer): \(id.accountName); 'signet sync' sends it to the other machines."
                return Console.line(json ? JSONText.line(.object(["restored": .object(members)])) : text)
            }
            let conflicts = settings.state.conflicts
            if !json, conflicts.isEmpty { Console.line("No conflicts.") }
            for (index, conflict) in conflicts.enumerated() {
                let description = ConflictDescription(conflict, number: index + 1, in: settings.state)
                Console.line(json ? JSONText.line(description.json) : description.line)
            }
        }
    }

    struct Leave: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "leave", abstract: "End the synchronization on this machine. Its accounts stay.",
            discussion: """
                Removes the file of this machine from the folder. Take the counters that you need here before: the codes of a \
                counter of another machine stay there.

                EXAMPLES:
                  signet sync leave
                """)

        @Flag(help: "Leave without asking.")
        var yes = false

        @OptionGroup var options: VaultOptions

        @Flag(help: "Print JSON: folder, fileRemoved.")
        var json = false

        func run() async throws {
            let session = try Session.open(options)
            let sync = VaultSync(session.vault)
            // A state that cannot be read must not prevent this command, which is the way out.
            let folder = (try? sync.settings())?.folder
            if !yes {
                try await Confirmation(
                    warning: "This ends the synchronization with \(folder ?? "the folder") on this machine; its accounts stay.",
                    action: "end it", withoutTerminal: "this ends the synchronization on this machine",
                    declined: "nothing was changed"
                ).ask()
            }
            let isRemoved = try sync.leave()
            if json {
                return Console.line(
                    JSONText.line(JSONText.object(["folder": .string(folder), "fileRemoved": .bool(isRemoved)])))
            }
            Console.line("This machine no longer synchronizes. Its accounts stay in the vault.")
            if !isRemoved { Console.line("The folder is not there; remove this machine's file from it by hand.") }
        }
    }

    /// Returns the settings of the synchronization.
    /// - Throws: ``Failure`` when the vault is not synchronized; `StoreError`.
    fileprivate static func settings(of session: Session) throws -> SyncSettings {
        guard let settings = try VaultSync(session.vault).settings() else {
            throw Failure(
                SyncError(.notSetUp, "this vault is not synchronized; 'signet sync init' with a folder begins or joins"))
        }
        return settings
    }

    /// Prints the report of a synchronization.
    /// - Throws: ``Failure`` when files of other machines could not be read.
    fileprivate static func report(_ report: SyncReport, _ session: Session, json: Bool) throws {
        let state = try settings(of: session).state
        let description = SyncDescription(report: report, state: state)
        for line in description.lines(json: json) { Console.line(line) }
        guard report.skippedFiles.isEmpty else {
            throw Failure(
                .badInput, "sync.skippedFiles",
                "\(report.skippedFiles.count.of("file")) of the folder could not be read; everything else was synchronized")
        }
    }
}

extension Failure {
    /// Creates the failure for an error of a synchronization.
    init(sync error: SyncError) {
        let exit: Exit =
            switch error.code {
            case .notSetUp, .noFolder, .emptyFolder, .noCounter, .noConflict: .notFound
            case .alreadySetUp, .ownCounter: .alreadyExists
            case .unreadableFolder: .notAllowed
            case .damagedRecords, .damagedState: .store
            case .counterExhausted: .badInput
            }
        self.init(exit, "sync.\(error.code.rawValue)", error.description)
    }
}
