import ArgumentParser
import SignetAuthenticator
import SignetCore
import SignetStorage

struct Accounts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accounts", abstract: "List the accounts, and change how they are kept.",
        subcommands: [List.self, Rename.self, Remove.self, Lock.self, Unlock.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the accounts and what they can do. This is what 'signet accounts' does.",
            discussion: "Ends with 74 when records are damaged or missing, after the list of those that can be read.")

        @OptionGroup var options: VaultOptions

        @Flag(help: "Print JSON, one account a line.")
        var json = false

        func run() async throws {
            let (accounts, damaged) = try await Session.open(options).offline { authenticator in
                (try await authenticator.accounts(), try await authenticator.damagedRecords())
            }
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

    struct Rename: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rename", abstract: "Give an account other names to show.",
            discussion: "Without a name the original is shown again.")

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
            commandName: "remove", abstract: "Remove an account with its codes and push messages, after asking.",
            discussion: "It can't be undone: only a backup brings the account back.")

        @OptionGroup var target: AccountTarget

        @Flag(help: "Remove it without asking.")
        var yes = false

        func run() async throws {
            let session = try Session.open(target.options)
            let account = try await session.offline { try target.found(in: try await $0.accounts()) }
            if !yes { try confirmation(account).ask() }
            guard try await session.offline({ try await $0.removeAccount(account.account.id) }) else {
                throw Failure(.notFound, "notFound", "\(account.shownName) was removed by another process meanwhile")
            }
            Console.line(target.json ? JSONText.line(account.json) : "Removed \(account.text)")
        }

        private func confirmation(_ account: EnrolledAccount) -> Confirmation {
            let name = account.text
            return Confirmation(
                warning: "This removes \(name) with its codes and push messages. Without a backup they can't be brought back.",
                action: "remove it", withoutTerminal: "removing \(name) can't be undone", declined: "nothing was removed")
        }
    }

    struct Lock: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "lock", abstract: "Lock an account: no codes and no answers until it is unlocked.")

        @OptionGroup var target: AccountTarget

        @Option(help: "What to show as the reason.")
        var policy = "byHand"

        func run() async throws { try await target.change { try await $0.lock($1, policy: policy) } }
    }

    struct Unlock: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "unlock", abstract: "Unlock an account that was locked with 'signet accounts lock'.")

        @OptionGroup var target: AccountTarget

        func run() async throws { try await target.change { try await $0.unlock($1) } }
    }
}

/// The account that a command changes.
struct AccountTarget: ParsableArguments {
    @Argument(help: "The account: its name, its issuer, or issuer:account, as it was enrolled or is shown.")
    var name: String

    @OptionGroup var options: VaultOptions

    @Flag(help: "Print the account that was changed or removed as JSON.")
    var json = false

    /// Returns the account with the name.
    /// - Throws: ``Failure`` when no account or several accounts have the name.
    func found(in accounts: [EnrolledAccount]) throws -> EnrolledAccount { try Selection.account(name, in: accounts) }

    /// Changes the account and prints the result.
    func change(_ change: (Authenticator, AccountID) async throws -> Void) async throws {
        let changed = try await Session.open(options).offline { authenticator in
            let id = try found(in: try await authenticator.accounts()).account.id
            try await change(authenticator, id)
            return try await authenticator.account(id)
        }
        if let changed { Console.line(json ? JSONText.line(changed.json) : changed.text) }
    }
}

extension EnrolledAccount {
    fileprivate var text: TerminalText {
        "\(shownName)  [\(mechanisms.map(\.kindName.rawValue).joined(separator: ", "))]"
            + (lock.map { "  locked (\($0.policy))" } ?? "")
    }

    fileprivate var json: JSONValue {
        JSONText.object([
            "issuer": .string(account.id.issuer), "account": .string(account.id.accountName),
            "displayIssuer": .string(account.displayIssuer), "displayAccount": .string(account.displayAccountName),
            "image": .string(account.imageURL), "backgroundColor": .string(account.backgroundColor),
            "policies": account.policies.isEmpty ? nil : .object(account.policies),
            "timeAdded": .string(account.timeAdded.text), "lock": lock?.json,
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
            "registrationEndpoint": .string(push?.registrationEndpoint.url),
            "authenticationEndpoint": .string(push?.authenticationEndpoint.url), "pushStream": .string(push?.streamEndpoint?.url),
            "pushGateway": .string(push?.gatewayEndpoint?.url),
        ])
    }
}
