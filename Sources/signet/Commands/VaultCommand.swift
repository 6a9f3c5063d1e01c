import ArgumentParser
import SignetAuthenticator
import SignetCore
import SignetStorage

struct VaultCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vault", abstract: "Manage the keys of the vault, and accept a copy that was restored.",
        discussion: """
            EXAMPLES:
              signet vault recovery-key
              signet vault key list
            """,
        subcommands: [Key.self, RecoveryKey.self, AcceptRollback.self])
}

extension VaultCommand {
    struct Key: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "key", abstract: "List, add and remove the key slots of the vault, and rotate its data key.",
            discussion: """
                The key protector of each slot opens the vault alone. Only these commands add or remove a slot.

                EXAMPLES:
                  signet vault key list
                  signet vault key add passphrase
                """,
            subcommands: [List.self, Add.self, Remove.self, Rotate.self])
    }
}

extension VaultCommand.Key {
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the key protectors. The vault is not opened.",
            discussion: """
                EXAMPLES:
                  signet vault key list
                """)

        @Flag(help: "Print JSON, one slot a line: number, key protector.")
        var json = false

        func run() throws {
            for slot in try Session.directory().header().slots { Console.line(json ? JSONText.line(slot.json) : slot.text) }
        }
    }

    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: "Add a key slot, with which another key protector opens the vault.",
            discussion: """
                EXAMPLES:
                  signet vault key add passphrase
                  signet vault key add tpm
                """)

        @Argument(help: "The key protector to add.")
        var protection: Protection

        @OptionGroup var options: VaultOptions

        @Option(
            name: .customLong("new-passphrase-fd"),
            help: ArgumentHelp("Read the new passphrase from this open file descriptor.", valueName: "fd"))
        var newPassphraseDescriptor: Int32?

        @Flag(help: "Print JSON: number, key protector.")
        var json = false

        func run() throws {
            let session = try Session.open(options, anyLevel: true)
            let protectors = session.protectors.asking(.forNewPassphrase(newPassphraseDescriptor))
            let slot =
                protection == .keyfile
                ? try addKeyFile(protectors.directory, to: session.vault)
                : try session.vault.addSlot(protectors.protector(protection))
            Console.line(json ? JSONText.line(slot.json) : "Added slot \(slot.text)")
        }

        /// Adds a key file as a slot.
        ///
        /// Deletes the file if adding fails, unless the vault may have the slot.
        private func addKeyFile(_ directory: VaultDirectory, to vault: Vault) throws -> VaultHeader.Slot {
            let key = try KeyFile.create(path: directory.keyPath)
            do throws(StoreError) {
                return try vault.addSlot(key)
            } catch {
                let slots = try? directory.header().slots
                if let slots, !slots.contains(where: { $0.protector == Protection.keyfile.rawValue }) {
                    PrivateFile.remove(directory.keyPath)
                }
                throw error
            }
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove", abstract: "Remove a key slot of the vault; the last one cannot be removed.",
            discussion: """
                A copy of the data key works without a slot: 'signet vault key rotate' replaces the data key.

                EXAMPLES:
                  signet vault key remove 2
                """)

        @Argument(help: "The number of the slot, as 'signet vault key list' shows it.")
        var number: Int

        @OptionGroup var options: VaultOptions

        func run() throws {
            let session = try Session.open(options, anyLevel: true)
            guard let slot = session.vault.header.slots.first(where: { $0.number == number }) else {
                throw Failure(.notFound, "noSlot", "the vault has no slot \(number); see 'signet vault key list'")
            }
            try session.vault.removeSlot(number)
            Console.line("Removed slot \(slot.text)")
            if slot.protector == Protection.keyfile.rawValue {
                Console.line(
                    "\(try Session.directory().keyPath) opens older copies of the vault only; delete it if there are none.")
            }
        }
    }

    struct Rotate: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rotate", abstract: "Create a new data key and seal all records with it.",
            discussion: """
                Every key protector is needed once: first remove the slots that can no longer be opened.

                EXAMPLES:
                  signet vault key rotate
                """)

        @OptionGroup var options: VaultOptions

        func run() throws {
            let session = try Session.open(options, anyLevel: true)
            try session.vault.rotateKey { (slot) throws(StoreError) in
                guard let protection = Protection(rawValue: slot.protector) else {
                    throw StoreError(.keyUnavailable, "rotate key", "slot \(slot.number): \(slot.protector) is not known here")
                }
                guard protection == .passphrase, slot.number != session.vault.openedBy.number else {
                    return session.protectors.protector(protection)
                }
                let source = PassphraseSource(
                    descriptor: options.passphraseDescriptor, prompt: "Passphrase of slot \(slot.number): ")
                return session.protectors.asking(source).protector(protection)
            }
            session.refreshNames()
            Console.line("All records are sealed with a new data key.")
        }
    }
}

extension VaultCommand {
    struct RecoveryKey: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "recovery-key",
            abstract: "Create a recovery key, which opens the vault too, and print it for a safe place.",
            discussion: """
                Prints the key once, alone on standard output. Keep it apart from this machine. Where the vault asks for its \
                passphrase, type the recovery key as it is printed. The key and a copy of the vault suffice to read the vault.

                EXAMPLES:
                  signet vault recovery-key
                """)

        @OptionGroup var options: VaultOptions

        @Flag(help: "Print JSON: key.")
        var json = false

        func run() throws {
            let session = try Session.open(options, anyLevel: true)
            let key = String(decoding: try session.vault.addRecoveryKey().bytes, as: UTF8.self)
            Console.line(json ? JSONText.line(.object(["key": .string(key)])) : "\(key)")
            if !json { Console.error("signet: write it down and keep it elsewhere; it is not shown again.") }
        }
    }

    struct AcceptRollback: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "accept-rollback", abstract: "Accept an older copy of the vault that was restored on purpose.",
            discussion: """
                HOTP codes of the copy may have been used since it was made. Mechanisms whose records are missing are removed.

                EXAMPLES:
                  signet vault accept-rollback
                """)

        @OptionGroup var options: VaultOptions

        func run() async throws {
            let session = try Session.open(options, acceptingRollback: true, anyLevel: true)
            let missing = try await session.offline { try await $0.removeMissingMechanisms() }
            session.refreshNames()
            Console.line("The copy is accepted as the current vault (epoch \(session.vault.header.epoch)).")
            if missing > 0 {
                Console.line("\(missing.of("mechanism")) of its accounts had no record; only a backup brings them back.")
            }
        }
    }
}

extension VaultHeader.Slot {
    fileprivate var text: TerminalText { "\(number): \(protector)" }

    /// The slot as JSON.
    var json: JSONValue { .object(["number": .integer(Int64(number)), "protector": .string(protector)]) }
}
