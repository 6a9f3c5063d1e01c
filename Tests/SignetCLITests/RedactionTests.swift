import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import signet

@Suite("Secrets in arguments of the wrong command")
struct RedactionTests {
    private static let commands: [[String]] = [
        ["code"], ["code", "--type", "totp"], ["accounts", "rename"], ["accounts", "remove", "--yes"], ["accounts", "lock"],
        ["push", "listen", "--once"], ["push", "approve"], ["push", "deny"], ["export", "--yes"], ["backup", "create"],
        ["backup", "verify"], ["backup", "restore"], ["import"], ["login"], ["login", "--profile"],
        ["login", "http://127.0.0.1:1", "--settings"],
        ["login", "http://127.0.0.1:1", "--ca-file"], ["token", "--profile"], ["userinfo", "--profile"],
        ["serve", "--config"], ["serve", "--validate-config"], ["serve", "--users"], ["serve", "--state-key"],
        ["serve", "--port", "0", "--state"],
        ["serve", "--admin-token-file"], ["serve", "--host"], ["serve", "--public-url"], ["serve", "--log-level"], ["doctor"],
        ["init", "--protect"], ["vault", "key", "add"], ["enroll", "x.png"], ["codes"], ["watch"], ["show"],
        ["agent"], ["agent", "run", "--lock-after"], ["agent", "run", "--ca-file"], ["agent", "status"], ["lock"], ["unlock"],
        ["sync"], ["sync", "now"], ["sync", "init"], ["sync", "init", "--yes"], ["sync", "init", "/nonexistent", "--name"],
        ["sync", "status"], ["sync", "take"], ["sync", "take", "--yes"], ["sync", "conflicts", "--restore"],
        ["sync", "leave", "--yes"],
    ]

    @Test("No command repeats the secret of an enrollment URI that it is given by mistake", arguments: commands)
    func hidesSecretOfMisplacedURI(command: [String]) async throws {
        try await CommandLineFixture.with { cli in
            for uri in [OATHSample.uri(), "OTPAUTH://totp/Harbor%20Bank:mira?secret=\(OATHSample.secretText)"] {
                for flags in [[], ["--json"]] {
                    let outcome = try await cli.start(command + [uri] + flags).end()
                    #expect(outcome.status != 0)
                    for text in [outcome.output, outcome.errors] {
                        #expect(!text.lowercased().contains(OATHSample.secretText.lowercased()), "\(text)")
                    }
                }
            }
        }
    }

    @Test("An account that is not found is named in the error, and an enrollment URI instead of a name is not")
    func namesWhatIsNoSecret() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("code", "mira").fails(66, "no account called 'mira' makes codes")
            try await cli.signet("code", OATHSample.uri()).fails(66, "no account called '<URI>' makes codes")
        }
    }

    @Test("An argument is replaced as a whole, and any other enrollment URI up to the next space or quotation mark")
    func replacesURI() {
        let spaced = "pushauth://push/Harbor Bank:mira x?s=AAAA"
        func redacted(_ text: String) -> String { Redaction.withoutSecrets(text, arguments: [spaced]) }
        #expect(redacted("open /a/\(spaced).new: not there") == "open /a/<URI>.new: not there")
        #expect(
            redacted("'otpauth-migration://offline?data=AAAA' and \"MfAuth:/totp/x?secret=AAAA\" too")
                == "'<URI>' and \"<URI>\" too")
        #expect(redacted("otpauth:x?secret=AAAA") == "<URI>")
        #expect(redacted("https://am.example.test/am: no") == "https://am.example.test/am: no")
        #expect(redacted("auth: no") == "auth: no")
        #expect(redacted("open Steam://AAAA: no") == "open <URI> no" && redacted("Steam:gordon: no") == "Steam:gordon: no")
        let line: TerminalText = "no account called '\("otpauth://totp/x?secret=AAAA")'"
        #expect(line.description == "no account called '<URI>'")
    }
}
