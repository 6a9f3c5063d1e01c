import ArgumentParser
import SignetAuthenticator
import SignetCore
import SignetStorage

struct Accounts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accounts", abstract: "List, rename, lock and remove accounts.",
        discussion: """
            EXAMPLES:
              signet accounts
              signet accounts show mira
              signet accounts rename mira --issuer Work
            """,
        subcommands: [List.self, Show.self, Rename.self, Remove.self, Lock.self, Unlock.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the accounts and what they can do. This is what 'signet accounts' does.",
            discussion: """
                Ends with 74 when records are damaged or missing, after the list of those that can be read.

                EXAMPLES:
                  signet accounts
                  signet accounts list --json
                """)

        @OptionGroup var options: VaultOptions

        @Flag(help: "Print JSON, one account a line.")
        var json = false

        func run() async throws {
            let authenticator = try AgentAccess.authenticator(options)
            // Of the notes, the text has only that there is one.
            let accounts = try await json ? authenticator.accountsWithNotes() : authenticator.accounts()
            let damaged = try await authenticator.damagedRecords()
            if !json, accounts.isEmpty { Console.line("No accounts yet. Add one with 'signet enroll FILE'.") }
            for account in accounts { Console.line(json ? JSONText.line(account.json) : account.text) }
            guard !damaged.isEmpty else { return }
            // On standard error, so that programs which read the list get only accounts.
            for record in damaged { Console.error("signet: \(record.error)") }
            throw Failure(
                .store, "damagedRecords",
                "\(damaged.count.of("record")) cannot be read, and the list is without what is in them; nothing was changed. "
                    + "'signet backup restore' brings back what a backup has")
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show an account with its groups, its note and its icon.",
            discussion: """
                A note may have recovery codes; 'signet accounts' only says that there is one.

                EXAMPLES:
                  signet accounts show mira
                  signet accounts show 'Harbor Bank:mira' --json
                """)

        @Argument(
            help: "The account: its name, its issuer, or issuer:account, as it was enrolled or is shown.",
            completion: .accounts())
        var name: String

        @OptionGroup var options: VaultOptions

        @Flag(help: "Print the account as JSON.")
        var json = false

        func run() async throws {
            let session = try Session.open(options)
            let (account, icon) = try await session.offline { authenticator in
                let found = try Selection.account(name, in: try await authenticator.accounts())
                return (found, try await authenticator.icon(of: found.account))
            }
            if json { return Console.line(JSONText.line(account.json)) }
            Console.line(account.text)
            for line in account.detailLines(icon) { Console.line(line) }
        }
    }

    struct Rename: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rename", abstract: "Give an account other names to show.",
            discussion: """
                Without a name the original is shown again.

                EXAMPLES:
                  signet accounts rename mira --issuer Work
                  signet accounts rename mira --account 'Mira, work'
                  signet accounts rename mira
                """)

        @OptionGroup var target: AccountTarget

        @Option(help: "The issuer to show.")
        var issuer: String?

        @Option(help: "The account's name to show.")
        var account: String?

        func run() async throws {
            try await target.change { _ = try await $0.rename($1, displayIssuer: issuer, displayAccountName: account) }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove an account with its codes and push messages, or one of its mechanisms, after asking.",
            discussion: """
                It can't be undone: only a backup brings back what was removed.

                EXAMPLES:
                  signet accounts remove mira
                  signet accounts remove 'Harbor Bank:mira' --yes
                  signet accounts remove mira --mechanism push
                """)

        /// The types of mechanisms.
        enum MechanismType: String, ExpressibleByArgument, CaseIterable {
            case totp, hotp, push
        }

        @OptionGroup var target: AccountTarget

        @Option(help: "Remove only this mechanism of the account. With its last mechanism the account is removed too.")
        var mechanism: MechanismType?

        @Flag(help: "Remove it without asking.")
        var yes = false

        func run() async throws {
            let session = try Session.open(target.options)
            let account = try await session.offline { try await target.found(in: try await $0.accounts()) }
            let removal = try Removal(of: mechanism?.rawValue, from: account)
            if !yes { try await removal.confirmation.ask() }
            let (isDone, left) = try await session.offline { authenticator in
                (try await removal.perform(with: authenticator), try await authenticator.account(account.account.id))
            }
            guard isDone else {
                throw Failure(.notFound, "notFound", "\(account.shownName): it was already removed")
            }
            Console.line(target.json ? JSONText.line(removal.json(left: left)) : removal.report(left: left))
        }
    }

    struct Lock: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "lock", abstract: "Lock an account: no codes and no answers until it is unlocked.",
            discussion: """
                EXAMPLES:
                  signet accounts lock mira
                """)

        @OptionGroup var target: AccountTarget

        @Option(help: "The reason to show.")
        var policy = "manual"

        func run() async throws { try await target.change { try await $0.lock($1, policy: policy) } }
    }

    struct Unlock: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "unlock", abstract: "Unlock an account that was locked with 'signet accounts lock'.",
            discussion: """
                EXAMPLES:
                  signet accounts unlock mira
                """)

        @OptionGroup var target: AccountTarget

        func run() async throws { try await target.change { try await $0.unlock($1) } }
    }
}

/// The removal of an account or of one of its mechanisms.
private struct Removal {
    private let account: EnrolledAccount
    /// The mechanism to remove; nil for the account with all mechanisms.
    private let mechanism: Mechanism?

    /// - Throws: ``Failure`` when the account has no mechanism of the type.
    init(of type: String?, from account: EnrolledAccount) throws {
        self.account = account
        mechanism = account.mechanisms.first { $0.kindName.rawValue == type }
        if let type, mechanism == nil {
            throw Failure(.notFound, "notFound", "\(account.shownName) has no \(type) mechanism, only \(account.types)")
        }
    }

    var confirmation: Confirmation {
        guard let mechanism else {
            let name = account.text
            return Confirmation(
                warning: "This removes \(name) with its codes and push messages. Without a backup they can't be brought back.",
                action: "remove it", withoutTerminal: "removing \(name) can't be undone", declined: "nothing was removed")
        }
        let thing: TerminalText = "\(mechanism.kindName.rawValue) of \(account.text)"
        let contents: TerminalText = mechanism.push == nil ? "codes" : "push messages"
        let last: TerminalText = account.mechanisms.count == 1 ? " The account is removed too." : ""
        return Confirmation(
            warning: "This removes \(thing) with its \(contents).\(last) Without a backup they can't be brought back.",
            action: "remove it", withoutTerminal: "removing \(thing) can't be undone", declined: "nothing was removed")
    }

    /// Returns true when there was something to remove.
    func perform(with authenticator: Authenticator) async throws(StoreError) -> Bool {
        guard let mechanism else { return try await authenticator.removeAccount(account.account.id) }
        return try await authenticator.removeMechanism(mechanism.uid)
    }

    /// Returns the text for the user.
    ///
    /// `left` is the account after the removal; nil when it was removed.
    func report(left: EnrolledAccount?) -> TerminalText {
        guard let mechanism else { return "Removed \(account.text)" }
        guard let left else { return "Removed \(mechanism.kindName.rawValue) with the account \(account.shownName)" }
        return "Removed \(mechanism.kindName.rawValue) of \(left.text)"
    }

    /// Returns the account with the mechanisms that were removed.
    ///
    /// `left` is the account after the removal.
    func json(left: EnrolledAccount?) -> JSONValue {
        let removed = EnrolledAccount(
            account: account.account, mechanisms: mechanism.map { [$0] } ?? account.mechanisms, lock: account.lock)
        var members = removed.json.object ?? [:]
        members["accountRemoved"] = .bool(left == nil)
        return .object(members)
    }
}

/// The account that a command changes.
struct AccountTarget: ParsableArguments {
    @Argument(
        help: "The account: its name, its issuer, or issuer:account, as it was enrolled or is shown.", completion: .accounts())
    var name: String

    @OptionGroup var options: VaultOptions

    @Flag(help: "Print the account that was changed or removed as JSON.")
    var json = false

    /// Returns the account with the name, or the one that the user picks at the terminal when the name is not clear.
    /// - Throws: ``Failure`` when no account or several accounts have the name; `CancellationError` when the user ends the input.
    func found(in accounts: [EnrolledAccount]) async throws -> EnrolledAccount {
        try await Selection.chooseAccount(name, in: accounts, asks: !json && PickList.isPossible)
    }

    /// Changes the account and prints the result.
    func change(_ change: (Authenticator, AccountID) async throws -> Void) async throws {
        let changed = try await Session.open(options).offline { authenticator in
            let id = try await found(in: try await authenticator.accounts()).account.id
            try await change(authenticator, id)
            return try await authenticator.account(id)
        }
        if let changed { Console.line(json ? JSONText.line(changed.json) : changed.text) }
    }
}

extension EnrolledAccount {
    fileprivate var text: TerminalText {
        let encoding: TerminalText = mechanisms.contains { $0.oath?.encoding == .steam } ? "  codes of Steam" : ""
        let place: TerminalText = account.groups.isEmpty ? "" : "  in \(account.groups.joined(separator: ", "))"
        let note: TerminalText = account.note == nil ? "" : "  with a note"
        let locked: TerminalText = lock.map { "  locked (\($0.policy))" } ?? ""
        let owner: TerminalText = mechanisms.compactMap(\.counterOwner).first.map { "  codes on \($0)" } ?? ""
        let head: TerminalText = "\(shownName)  [\(types)]"
        return head + encoding + owner + place + note + locked
    }

    /// The lines about the groups, the icon and the note, with the text of the note.
    fileprivate func detailLines(_ icon: AccountIcon?) -> [TerminalText] {
        var lines: [TerminalText] = account.groups.map { "group: \($0)" }
        if let name = account.iconName { lines.append("icon: \(name)") }
        if let icon { lines.append("icon: \(icon.type.rawValue), \(icon.data.count) bytes") }
        guard let note = account.note?.text else { return lines }
        lines.append("note:")
        let texts: [TerminalText] = note.split(separator: "\n", omittingEmptySubsequences: false).map { "  \($0)" }
        return lines + texts
    }

    /// The types of the mechanisms.
    fileprivate var types: String { mechanisms.map(\.kindName.rawValue).joined(separator: ", ") }

    fileprivate var json: JSONValue {
        let groups: JSONValue? = account.groups.isEmpty ? nil : .array(account.groups.map { .string($0) })
        return JSONText.object([
            "issuer": .string(account.id.issuer), "account": .string(account.id.accountName),
            "displayIssuer": .string(account.displayIssuer), "displayAccount": .string(account.displayAccountName),
            "image": .string(account.imageURL), "backgroundColor": .string(account.backgroundColor),
            "policies": account.policies.isEmpty ? nil : .object(account.policies),
            "timeAdded": .string(account.timeAdded.text), "lock": lock?.json,
            "groups": groups, "note": .string(account.note?.text), "iconName": .string(account.iconName),
            "icon": .string(account.iconID),
            "mechanisms": .array(mechanisms.map(\.json)),
        ])
    }
}

extension AccountLock {
    fileprivate var json: JSONValue {
        let cause = if case .manual = self { "hand" } else { "policy" }
        return .object(["policy": .string(policy), "by": .string(cause)])
    }
}

extension Mechanism {
    fileprivate var json: JSONValue {
        JSONText.object([
            "id": .string(uid), "type": .string(kindName.rawValue), "timeAdded": .string(timeAdded.text),
            "uid": .string(userID), "resourceId": .string(resourceID),
            "digits": oath.map { .integer(Int64($0.digits.count)) }, "algorithm": .string(oath?.algorithm.rawValue),
            "encoding": .string(oath?.encoding == .steam ? "steam" : nil), "counterOwner": .string(counterOwner),
            "registrationEndpoint": .string(push?.registrationEndpoint.url),
            "authenticationEndpoint": .string(push?.authenticationEndpoint.url), "pushStream": .string(push?.streamEndpoint?.url),
            "pushGateway": .string(push?.gatewayEndpoint?.url),
        ])
    }
}
