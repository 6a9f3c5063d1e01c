import AgentWire
import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@Suite("signet completions")
struct CompletionTests {
    /// Returns the lines that `signet` prints for the values of an argument, as the script of bash asks for them.
    ///
    /// A completion waits for the agent for a second, which a busy machine can exceed. So an empty answer is asked for again, unless
    /// `isEmpty` says that it is the right one.
    private func values(
        _ cli: CommandLineFixture, _ agent: RunningAgent?, _ command: [String], isEmpty: Bool = false
    ) async throws -> [String] {
        let argument = ["--", "positional@0", String(command.count + 1), "0", "signet"]
        let environment = (agent?.environment ?? [:]).merging(["SAP_SHELL": "bash"]) { first, _ in first }
        var lines: [String] = []
        for _ in 0..<(isEmpty ? 1 : 30) where lines.isEmpty {
            let outcome = try await cli.start(["---completion"] + command + argument + command + [""], environment: environment)
                .end().succeeds()
            #expect(outcome.errors == "")
            lines = outcome.output.split(separator: "\n").map(String.init)
        }
        return lines
    }

    @Test(
        "The script of each shell is valid for that shell", arguments: [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")])
    func printsValidScript(shell: String, checkOnly: String) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let script = try await cli.signet("completions", shell).succeeds().output
            #expect(script.contains("signet") && script.contains("recovery-key"))
            let file = try cli.write(script.utf8, to: "script")
            guard Programs.missing([shell]).isEmpty else { return }
            let outcome = try await TestProcess.run(shell, [checkOnly, file])
            #expect(outcome.status == 0 && outcome.errors == "", "\(outcome.errors)")
        }
    }

    @Test("Another shell is refused with the names of the known ones")
    func refusesUnknownShell() async throws {
        try await CommandLineFixture.with(vault: false) {
            try await $0.signet("completions", "csh").fails(64, "bash", "zsh", "fish")
        }
    }

    @Test("In bash, commands, options, values, accounts and journeys are completed")
    func completesInBash() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri(issuer: "Harbor", account: "mira@example.com")).succeeds()
            let script = try await cli.signet("completions", "bash").succeeds().output
            let test = """

                complete_words() {
                    COMP_WORDS=("$0" "$@"); COMP_CWORD=$#; COMP_LINE="signet $*"; COMP_POINT=${#COMP_LINE}; COMPREPLY=()
                    _signet signet "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
                    printf '%s,' "${COMPREPLY[@]}"; echo
                }
                complete_words cod
                complete_words code --type ''
                complete_words code --pass
                for attempt in $(seq 30); do line=$(complete_words code mi); [ "$line" = , ] || break; done; echo "$line"
                complete_words login --journey PushN
                """
            let file = try cli.write((script + test).utf8, to: "script")
            let agent = try await RunningAgent.start(cli, "--no-push")
            let outcome = try await cli.start(
                ["-c", ". '\(file)'", Program.path], program: "bash", environment: agent.environment
            ).end()
            await agent.process.stop()
            #expect(outcome.errors == "")
            let expected = ["code,codes,", "totp,hotp,", "--passphrase-fd,", "mira@example.com,", "PushNumberLogin,"]
            #expect(outcome.output.split(separator: "\n").map(String.init) == expected)
        }
    }

    /// Runs `body` with a vault and an agent that holds it unlocked.
    private func withAgent(_ body: (CommandLineFixture, RunningAgent) async throws -> Void) async throws {
        try await CommandLineFixture.with { cli in
            let agent = try await RunningAgent.start(cli, "--no-push")
            try await body(cli, agent)
            await agent.process.stop()
        }
    }

    @Test("Completed accounts are those of the command, each by a name that no other account has")
    func completesAccounts() async throws {
        try await withAgent { cli, agent in
            try await cli.signet("enroll", OATHSample.uri(issuer: "Harbor", account: "mira")).succeeds()
            try await cli.signet("enroll", OATHSample.uri(issuer: "Service", account: "mira")).succeeds()
            try await cli.signet("enroll", OATHSample.uri("hotp", issuer: "Service", account: "noa")).succeeds()
            let codes = try await values(cli, agent, ["code"])
            #expect(codes == ["Harbor", "noa"])
            let all = try await values(cli, agent, ["accounts", "remove"])
            #expect(all == codes)
            let push = try await values(cli, agent, ["push", "listen"], isEmpty: true)
            #expect(push == [])
            // A completion reads: the counter is where it was.
            let counter = try await cli.signet("code", "noa", "--json").succeeds().json["counter"]
            #expect(counter == .integer(0))
        }
    }

    @Test("Accounts are completed by name and by issuer, sorted, each value once and only if it selects one account")
    func completesIssuers() async throws {
        try await withAgent { cli, agent in
            for (issuer, account) in [
                ("Service", "noa"), ("Service", "lia"), ("Harbor", "mira"), ("Library", "Harbor"), ("Acme", "kai"),
                ("Acme2", "Acme2"),
            ] {
                try await cli.signet("enroll", OATHSample.uri(issuer: issuer, account: account)).succeeds()
            }
            let names = try await values(cli, agent, ["code"])
            #expect(names == ["Acme", "Acme2", "Library", "kai", "lia", "mira", "noa"])
            for name in names { try await cli.signet("code", name).succeeds() }
            // Two accounts have each of these names.
            for name in ["Service", "Harbor"] { try await cli.signet("code", name).fails(65, "several mechanisms match") }
            let targets = try await values(cli, agent, ["accounts", "remove"])
            #expect(targets == names)
        }
    }

    @Test("An account with another displayed issuer is completed by both issuers")
    func completesDisplayedIssuer() async throws {
        try await withAgent { cli, agent in
            try await cli.signet("enroll", OATHSample.uri(issuer: "Harbor", account: "mira")).succeeds()
            try await cli.signet("accounts", "rename", "mira", "--issuer", "Quay").succeeds()
            let names = try await values(cli, agent, ["code"])
            #expect(names == ["Harbor", "Quay", "mira"])
        }
    }

    @Test("A name that a shell would expand is not completed")
    func omitsNamesForShells() async throws {
        try await withAgent { cli, agent in
            for account in ["$(id)", "`id`", "a;id", "-v", "a%20b", "a%0Ab"] {
                let uri = OATHSample.uri(issuer: "H%24", account: account)
                // Some of these names are refused already.
                _ = try await cli.signet("enroll", uri)
            }
            let names = try await values(cli, agent, ["code"])
            #expect(names == ["a b"])
        }
    }

    @Test(
        "The agent has no values for a vault without accounts, messages and logins",
        arguments: ["accounts", "messages", "logins", ""])
    func completesNothingInEmptyVault(kind: String) async throws {
        try await withAgent { cli, agent in
            let reply = try agent.reply(to: "names", [kind])
            #expect(reply == .result([Array("[]".utf8)]))
            let messages = try await values(cli, agent, ["push", "approve"], isEmpty: true)
            #expect(messages == [])
        }
    }

    @Test("Without an agent, and with one that is locked, nothing is completed and no vault is opened")
    func completesNothingWithoutAgent() async throws {
        try await withAgent { cli, agent in
            try await cli.signet("enroll", OATHSample.uri()).succeeds()
            let alone = try await values(cli, nil, ["code"], isEmpty: true)
            #expect(alone == [])
            try await agent.signet("lock").succeeds()
            let locked = try await values(cli, agent, ["code"], isEmpty: true)
            #expect(locked == [])
            let status = try await agent.signet("agent", "status", "--json").succeeds()
            #expect(status.json["state"]?.string?.hasPrefix("locked") == true)
        }
    }

    @Test("A vault that needs a passphrase is completed when the agent has it, and nothing is asked")
    func asksForNoPassphrase() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let empty = try await values(cli, nil, ["code"], isEmpty: true)
            #expect(empty == [])
            try await cli.signet("init", "--protect", "passphrase", "--passphrase-fd", "0", input: .text("long enough 27\n"))
                .succeeds()
            let uri = OATHSample.uri(issuer: "Harbor", account: "mira")
            try await cli.signet("enroll", "--passphrase-fd", "0", uri, input: .text("long enough 27\n")).succeeds()
            let locked = try await values(cli, nil, ["code"], isEmpty: true)
            #expect(locked == [])
            let agent = try await RunningAgent.start(cli, "--no-push", passphrase: "long enough 27")
            let unlocked = try await values(cli, agent, ["code"])
            #expect(unlocked == ["Harbor", "mira"])
            await agent.process.stop()
        }
    }
}
