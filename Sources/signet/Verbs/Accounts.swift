import ArgumentParser
import SignetAuthenticator
import SignetCore
import SignetStorage

struct Accounts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accounts",
        abstract: "List the accounts and what they can do.")

    @OptionGroup var options: VaultOptions

    @Flag(help: "Print JSON, one account a line.")
    var json = false

    func run() async throws {
        let (accounts, damaged) = try await Session.open(options).offline { authenticator in
            (try await authenticator.accounts(), try await authenticator.damagedRecords())
        }
        if !json, accounts.isEmpty { Console.line("No accounts yet. Add one with 'signet enroll FILE'.") }
        for account in accounts { Console.line(json ? JSONText.line(account.json) : account.text) }
        // On standard error, so that programs which read the list get nothing but accounts.
        for record in damaged { Console.error("signet: \(record.error)") }
    }
}

extension EnrolledAccount {
    fileprivate var text: String {
        "\(account.displayIssuer ?? account.id.issuer): \(account.displayAccountName ?? account.id.accountName)"
            + "  [\(mechanisms.map(\.kindName.rawValue).joined(separator: ", "))]"
    }

    fileprivate var json: JSONValue {
        JSONText.object([
            "issuer": .string(account.id.issuer), "account": .string(account.id.accountName),
            "displayIssuer": .string(account.displayIssuer), "displayAccount": .string(account.displayAccountName),
            "image": .string(account.imageURL), "backgroundColor": .string(account.backgroundColor),
            "policies": account.policies.isEmpty ? nil : .object(account.policies),
            "timeAdded": .string(account.timeAdded.text),
            "mechanisms": .array(mechanisms.map(\.json)),
        ])
    }
}

extension Mechanism {
    fileprivate var json: JSONValue {
        JSONText.object([
            "id": .string(uid), "type": .string(kindName.rawValue), "timeAdded": .string(timeAdded.text),
            "uid": .string(userID), "resourceId": .string(resourceID),
            "digits": oath.map { .integer(Int64($0.digits.count)) }, "algorithm": .string(oath?.algorithm.rawValue),
            "registrationEndpoint": .string(push?.registrationEndpoint.url),
            "authenticationEndpoint": .string(push?.authenticationEndpoint.url), "desk": .string(push?.deskEndpoint?.url),
        ])
    }
}
