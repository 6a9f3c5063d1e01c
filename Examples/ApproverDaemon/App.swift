import Foundation
import SignetAuthenticator
import SignetCore
import SignetStorage
import UnixSignals

// A daemon that answers the push messages of the accounts in a vault by a policy, for test users and service accounts.
//
//     ApproverDaemon POLICY-FILE
//
// It takes the second factor out of the logins that the policy approves: never use it for the account of a person. SIGTERM ends it.
// approver.service is its systemd unit, policy.json a sample of its policy.

@main
struct App {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 2 else {
            log("usage: ApproverDaemon POLICY-FILE")
            exit(64)
        }
        do {
            try await run(policyFile: arguments[1])
        } catch {
            log("\(error)")
            exit(1)
        }
    }

    /// Answers messages until a signal or an error ends the program.
    private static func run(policyFile: String) async throws {
        let environment = ProcessInfo.processInfo.environment
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        let policy = try JSONDecoder().decode(ApprovalPolicy.self, from: Data(contentsOf: URL(fileURLWithPath: policyFile)))
        // A systemd credential, a TPM, the keyring, or the key file beside the vault opens the vault.
        let vault = try await VaultDirectory.default().unlockVault(
            protectors: DefaultKeyProtectors.all(environment: environment))
        let accounts = try await Approver.withAuthenticator(for: vault) { authenticator in try await authenticator.accounts() }
        let approvers = accounts.flatMap { enrolled in
            enrolled.mechanisms.filter { $0.push != nil }.map { mechanism in
                Approver(vault: vault, account: enrolled.account.id, mechanismUID: mechanism.uid, policy: policy)
            }
        }
        guard !approvers.isEmpty else { throw NoPushAccount() }
        notifySystemd("READY=1", environment)
        // The first of these tasks to end is the one of the signals, or a listener that cannot go on.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for approver in approvers { group.addTask { try await approver.run() } }
            group.addTask { for await _ in signals { return } }
            _ = try await group.next()
            notifySystemd("STOPPING=1", environment)
            group.cancelAll()
        }
        log("stopped")
    }
}

/// The error of a vault without an account to listen for.
struct NoPushAccount: Error, CustomStringConvertible {
    var description: String {
        "no account in the vault takes push messages; enroll one with 'signet enroll' or 'signet login --enroll'"
    }
}

/// Writes a line to standard error, which systemd writes to its log.
func log(_ line: String) {
    FileHandle.standardError.write(Data("approver: \(line)\n".utf8))
}
