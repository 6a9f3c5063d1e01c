#if os(Linux)
import Foundation
import SignetCore
import SignetNetwork
import SignetTesting
import TestSupport
import Testing

/// Text that comes from an attacker and that a program prints: control characters, changes of the writing direction, forged lines.
@Suite("Attacks: terminals and logs", .timeLimit(.minutes(5)))
struct TerminalAttacks {
    /// Names that would move the cursor, set the clipboard, add a line or look like another name.
    private static let names = [
        "eve\u{1B}[2J", "eve\u{1B}]52;c;ZXZl\u{7}", "eve\u{1B}]0;owned\u{7}", "eve\nUser: root  password: fake", "eve\r",
        "eve\u{8}\u{8}",
        "eve\u{0}", "eve\u{9B}31m", "eve\u{7F}", "e\u{202E}ve", "e\u{2066}ve", "e\u{200B}ve", "e\u{FEFF}ve", "eve\u{2028}x",
        "\u{200D}mira",
    ]

    @Test("A name with a control, bidirectional or zero-width character is not given to a user")
    func registersUnsafeName() async throws {
        try await AttackedServer.with { server in
            #expect(try await register("eve", at: server).session != nil)
            for name in Self.names {
                #expect(try await register(name, at: server).session == nil, "\(name.debugDescription)")
                let body = JSON.text(of: .object(["name": .string(name), "password": "a password"]))
                #expect(try await server.adminStatus("POST", "users", body) == 400, "\(name.debugDescription)")
            }
            let users = try #require(try await server.admin("GET", "users")["users"]?.array).compactMap { $0["name"]?.string }
            let unsafe = users.filter { name in name.unicodeScalars.contains { !$0.isASCII || $0.value < 0x20 } }
            #expect(unsafe.isEmpty, "\(unsafe.map(\.debugDescription))")
        }
    }

    /// Fills in the registration page with a name.
    private func register(_ name: String, at server: AttackedServer) async throws -> JourneyAnswer {
        var step = try #require(try await server.start("Registration").step)
        for index in step.callbacks.indices {
            let isAddress = step.callbacks[index].output("name")?.string == "mail"
            switch step.callbacks[index].type {
            case "ValidatedCreateUsernameCallback": step.callbacks[index].answer(.string(name))
            case "ValidatedCreatePasswordCallback": step.callbacks[index].answer("A-new-Passw0rd")
            case "StringAttributeInputCallback": step.callbacks[index].answer(isAddress ? "eve@example.test" : "Eve")
            case "KbaCreateCallback":
                step.callbacks[index].input?[0].value = "What?"
                step.callbacks[index].input?[1].value = "That"
            case "TermsAndConditionsCallback": step.callbacks[index].answer(.bool(true))
            default: break
            }
        }
        return try await server.answer(step, [:])
    }

    @Test("The output and the log of a server contain no control character of a request, at any level")
    func writesToServerLog() async throws {
        try await AttackedServer.with(options: ["--log-level", "trace"]) { server in
            for name in Self.names {
                _ = try await server.signIn(name: name)
                let step = try #require(try await server.start("EmailLogin").step)
                _ = try await server.answer(step, ["NameCallback": .string(name)])
                let query = FormCoding.encode([("authIndexValue", name), ("authIndexType", "service"), ("realm", "/\(name)")])
                _ = try await server.post("\(AttackedServer.authenticate)?\(query)", json: "{}", [("User-Agent", "x\u{9B}31m")])
                _ = try await server.send("GET", "/XUI/?\(query)")
            }
            let said = server.process.process.soFar
            #expect(said.isSafeToShow)
            #expect(!said.shown.contains("\nUser: root"))
            let hidden = said.shown.unicodeScalars.filter { [0x202E, 0x2066, 0x200B, 0xFEFF, 0x2028, 0x200D].contains($0.value) }
            #expect(hidden.isEmpty)
        }
    }

    @Test("A server with the user of a file whose name is unsafe does not start, and shows the name escaped")
    func configuresUnsafeName() async throws {
        try await AttackedVault.with(accounts: 0) { vault in
            for name in AttackRun.isComplete ? Self.names : Array(Self.names.prefix(4)) {
                let file = vault.directory.file("users.json")
                try Data(JSON.text(of: .object([name: "a password"])).utf8).write(to: URL(filePath: file))
                try #require(chmod(file, 0o600) == 0)
                let outcome = try await vault.run(
                    ["serve", "--port", "0", "--state", "memory", "--users", file, "--exit-on-stdin-eof"])
                #expect(outcome.isSafeToShow && outcome.status == 65, "\(name.debugDescription): \(outcome.status)")
                #expect(!outcome.shown.contains("\nUser: root"))
            }
        }
    }
}
#endif
