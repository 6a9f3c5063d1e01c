import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import signet

@Suite("The strength of a new passphrase")
struct PassphraseStrengthTests {
    @Test(
        "A passphrase that is short, common, repeated or a run is weak",
        arguments: [
            ("a", "1 character"), ("first", "5 characters"), ("elevenchars", "11 characters"), ("Password1!", "common"),
            ("123456789012", "common"), ("!!Dragon99", "common"), ("aaaaaaaaaaaaa", "repeats"), ("passpasspasspass", "repeats"),
            ("äöüßéèç", "7 characters"), ("abcdefghijklmnop", "run"), ("0987654321098", "run"), ("QWERTYUIOPasdf", "run"),
        ])
    func findsWeakPassphrase(passphrase: String, words: String) {
        let weakness = PassphraseStrength.weakness(of: Secret(passphrase.utf8))
        #expect(weakness?.contains(words) == true, "\(weakness ?? "none")")
    }

    @Test(
        "A longer passphrase of different characters is not called weak",
        arguments: ["correct horse", "four unrelated words here", "xK7#pQ9!zR2m", "äöüßéèçñøåæœ", "dragon fruit on toast"])
    func acceptsStrongerPassphrase(passphrase: String) {
        #expect(PassphraseStrength.weakness(of: Secret(passphrase.utf8)) == nil)
    }

    @Test("A weak passphrase for a vault is taken with a warning, and opening the vault warns of nothing")
    func warnsOfWeakVaultPassphrase() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let create = ["init", "--protect", "passphrase", "--passphrase-fd", "0"]
            let made = try await cli.start(create, input: .text("first\n")).end().succeeds()
            #expect(
                made.errors.contains("signet: warning: the passphrase of the vault is easy to guess: it has only 5 characters"))
            #expect(!made.errors.contains("first"))
            let opened = try await cli.signet("accounts", "--passphrase-fd", "0", input: .text("first\n")).succeeds()
            #expect(opened.errors == "")
        }
        try await CommandLineFixture.with(vault: false) { cli in
            let create = ["init", "--protect", "passphrase", "--passphrase-fd", "0", "--json"]
            let weak = try await cli.start(create, input: .text("letmein\n")).end().succeeds()
            let warning = try JSON.value(of: Array(weak.errors.utf8))["warning"]
            #expect(warning?["code"]?.string == "weakPassphrase")
            #expect(weak.json["protection"]?.string == "passphrase")
        }
    }

    @Test("A weak passphrase for a backup is taken with a warning, and a stronger one without")
    func warnsOfWeakBackupPassphrase() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri()).succeeds()
            for (passphrase, isWeak) in [("letmein", true), ("four unrelated words here", false)] {
                let create = ["backup", "create", cli.directory.file("\(isWeak).signet"), "--file-passphrase-fd", "0"]
                let made = try await cli.start(create, input: .text(passphrase + "\n")).end().succeeds()
                #expect(made.errors.contains("the passphrase of this backup is easy to guess") == isWeak, "\(made.errors)")
                #expect(isWeak || made.errors == "")
            }
        }
    }
}
