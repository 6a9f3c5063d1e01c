import ArgumentParser
import SignetCore
import SignetJourney
import SignetStorage

struct Passkeys: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "passkeys", abstract: "List and remove the passkeys of the vault.",
        discussion: """
            'signet login' creates and uses passkeys when a journey asks for one.

            EXAMPLES:
              signet passkeys
              signet passkeys remove example.com
            """,
        subcommands: [List.self, Remove.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the passkeys of the vault. This is what 'signet passkeys' does.",
            discussion: """
                Ends with 74 when records are damaged, after the list of those that can be read.

                EXAMPLES:
                  signet passkeys list
                  signet passkeys list --json
                """)

        @OptionGroup var options: VaultOptions

        @Flag(
            help:
                "Print JSON, one passkey a line: id, relyingParty, relyingPartyName, user, displayName, userHandle, algorithm, createdAt, lastUsedAt, signatures."
        )
        var json = false

        func run() async throws {
            let entries = try await PasskeyStore(try Session.open(options).vault).entries()
            if !json, entries.isEmpty { Console.line("No passkeys yet. 'signet login' creates one when a journey asks for it.") }
            var damaged: [TerminalText] = []
            for entry in entries {
                switch entry.passkey {
                case .success(let passkey): Console.line(json ? JSONText.line(passkey.json) : passkey.text)
                case .failure(let error): damaged.append("signet: \(entry.idText) at \(entry.relyingPartyID): \(error)")
                }
            }
            guard !damaged.isEmpty else { return }
            // On standard error, so that programs which read the list get only passkeys.
            for line in damaged { Console.error(line) }
            throw Failure(
                .store, "damagedRecords",
                "\(damaged.count.of("passkey")) cannot be read, and the list is without them; nothing was changed")
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove", abstract: "Remove a passkey, after asking.",
            discussion: """
                It can't be undone: a backup has no passkeys. The server still has the public key, so remove the passkey there too.

                EXAMPLES:
                  signet passkeys remove example.com
                  signet passkeys remove mira --yes
                """)

        @Argument(help: "The passkey: its domain, its user, user@domain, or the beginning of its id, at least 6 characters.")
        var name: String

        @Flag(help: "Remove it without asking.")
        var yes = false

        @OptionGroup var options: VaultOptions

        @Flag(help: "Print the passkey that was removed as JSON.")
        var json = false

        func run() async throws {
            let store = PasskeyStore(try Session.open(options).vault)
            let entry = try Self.found(name, in: try await store.entries())
            let text = entry.text
            if !yes {
                try await Confirmation(
                    warning: "This removes \(text). It can't be brought back, and logs in no more.", action: "remove it",
                    withoutTerminal: "removing \(text) can't be undone", declined: "nothing was removed"
                ).ask()
            }
            guard try await store.remove(entry.id) else {
                throw Failure(.notFound, "notFound", "\(entry.idText): it was already removed")
            }
            Console.line(json ? JSONText.line(entry.json) : "Removed \(text)")
        }

        /// Returns the only passkey that a name describes.
        /// - Throws: ``Failure`` with exit code 66 when no passkey has the name, and 65 when several have it.
        private static func found(_ name: String, in entries: [PasskeyStore.Entry]) throws -> PasskeyStore.Entry {
            let found = entries.filter { $0.isCalled(name) }
            guard let first = found.first else {
                throw Failure(.notFound, "notFound", "there is no passkey '\(name)' here; 'signet passkeys' lists them")
            }
            guard found.count == 1 else {
                let ids = found.map { "\($0.label) (\($0.idText))" }.joined(separator: ", ")
                throw Failure(.badInput, "ambiguous", "'\(name)' is the name of several passkeys; use the id: \(ids)")
            }
            return first
        }
    }
}

extension PasskeyStore.Entry {
    fileprivate var idText: String { Base64.encode(id, as: .url) }

    /// The user and the domain; only the domain of a damaged passkey.
    fileprivate var label: String {
        guard case .success(let passkey) = passkey else { return relyingPartyID }
        return "\(passkey.userName)@\(relyingPartyID)"
    }

    /// The passkey in one line.
    fileprivate var text: TerminalText {
        switch passkey {
        case .success(let passkey): passkey.text
        case .failure: "the damaged passkey \(idText) at \(relyingPartyID)"
        }
    }

    fileprivate var json: JSONValue {
        switch passkey {
        case .success(let passkey): passkey.json
        case .failure: .object(["id": .string(idText), "relyingParty": .string(relyingPartyID)])
        }
    }

    /// Returns true when the text is the domain, the user, `user@domain`, or the beginning of the id.
    fileprivate func isCalled(_ name: String) -> Bool {
        if [relyingPartyID, label].contains(where: { $0.lowercased() == name.lowercased() }) { return true }
        if case .success(let passkey) = passkey, passkey.userName.lowercased() == name.lowercased() { return true }
        return name.count >= 6 && idText.hasPrefix(name)
    }
}

extension Passkey {
    fileprivate var text: TerminalText {
        let used: TerminalText = lastUsedAt.map { "last used \($0.text)" } ?? "never used"
        return "\(userName)@\(relyingPartyID)  [\(algorithm.name)]  \(idText.prefix(12))  created \(createdAt.text), \(used)"
    }

    fileprivate var json: JSONValue {
        JSONText.object([
            "id": .string(idText), "relyingParty": .string(relyingPartyID), "relyingPartyName": .string(relyingPartyName),
            "user": .string(userName), "displayName": .string(displayName),
            "userHandle": .string(Base64.encode(userID, as: .url)), "algorithm": .string(algorithm.name),
            "createdAt": .string(createdAt.text), "lastUsedAt": .string(lastUsedAt?.text),
            "signatures": .integer(Int64(signatureCount)),
        ])
    }
}
