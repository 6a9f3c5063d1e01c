#if os(Linux)
import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

/// Wrong, hostile and starved uses of the program `signet`.
@Suite("Attacks: the command line", .timeLimit(.minutes(10)))
struct CommandAttacks {
    @Test("An enrollment URI that is given to the wrong command is not repeated with its secret")
    func leaksSecretInUsageError() async throws {
        try await AttackedVault.with(accounts: 1) { vault in
            let uri = "otpauth://totp/Bank:eve?secret=NB2W45DFOIZA&issuer=Bank"
            let commands: [[String]] = [
                ["code"], ["accounts"], ["accounts", "remove", "--yes"], ["push", "list"], ["push", "approve"], ["push", "deny"],
                ["push", "listen"],
                ["backup", "create"], ["backup", "verify"], ["backup", "restore"], ["export"], ["import"], ["serve"],
                ["serve", "--config"],
                ["serve", "--host"], ["serve", "--public-url"], ["login"], ["logout"],
                ["token", "--profile"], ["doctor"], ["vault", "key", "add"], ["init"], ["init", "--protect"],
                ["userinfo"], ["codes"], ["watch"], ["show"], ["agent"], ["agent", "run", "--lock-after"],
                ["agent", "run", "--ca-file"], ["agent", "status"], ["lock"], ["unlock"], ["sync"], ["sync", "now"],
                ["sync", "init"], ["sync", "init", "--yes"], ["sync", "status"], ["sync", "take"], ["sync", "take", "--yes"],
                ["sync", "conflicts", "--restore"], ["sync", "leave", "--yes"], [],
            ]
            for command in commands {
                for options in AttackRun.isComplete ? [[], ["--json"]] : [["--json"]] {
                    let outcome = try await vault.run(command + [uri] + options, within: .seconds(20))
                    #expect(outcome.isDocumented && outcome.status != 0, "\(command) \(outcome.status)")
                    #expect(!outcome.shown.contains("NB2W45DFOIZA"), "\(command): \(outcome.shown)")
                }
            }
        }
    }

    @Test("Another user of the machine gets no admin token, whatever the umask and whatever is in the place of its file")
    func readsAdminToken() async throws {
        try await AttackedVault.with(accounts: 0) { vault in
            let (token, ready) = (vault.directory.file("token"), vault.directory.file("ready.json"))
            let serve = ["serve", "--port", "0", "--state", "memory", "--json", "--exit-on-stdin-eof", "--admin-token-file"]
            let script = "umask 0; exec \"$@\""
            let server = try TestProcess(
                "sh", ["-c", script, "sh", AttackedProgram.path] + serve + [token, "--ready-file", ready],
                environment: vault.environment, input: .open)
            defer { server.signal(SIGKILL) }
            _ = try await server.waitForOutput { output, _ in output.hasSuffix("\n") }
            let isWritten = try await eventually { FileManager.default.fileExists(atPath: ready) }
            #expect(isWritten)
            for path in [token, ready] {
                let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
                #expect(mode == 0o600, "\(path)")
            }
            server.closeInput()
            let ended = await server.end()
            #expect(ended.status == 0, "\(ended.errors)")
            // A token that other users can read or choose: in a file with another mode, behind a link, out of a FIFO.
            let (shared, link, pipe) = (
                vault.directory.file("shared"), vault.directory.file("link"), vault.directory.file("pipe")
            )
            try Data("0123456789abcdef0123456789abcdef\n".utf8).write(to: URL(filePath: shared))
            try #require(chmod(shared, 0o666) == 0 && symlink(token, link) == 0 && mkfifo(pipe, 0o600) == 0)
            for path in [shared, link, pipe] {
                let outcome = try await vault.run(serve + [path], within: .seconds(30))
                #expect(outcome.isDocumented && outcome.status != 0 && outcome.output.isEmpty, "\(path): \(outcome.status)")
            }
        }
    }

    @Test("With few file descriptors a command ends with an error, and not by a signal")
    func startsWithFewDescriptors() async throws {
        try await AttackedVault.with(accounts: 1) { vault in
            for limit in AttackRun.isComplete ? Array(3...24) : [3, 5, 6, 9, 16] {
                for command in ["accounts", "code user0"] {
                    let script = "ulimit -n \(limit); exec \"$1\" \(command)"
                    let outcome = try await TestProcess.run(
                        "sh", ["-c", script, "sh", AttackedProgram.path], environment: vault.environment, within: .seconds(30))
                    // With three descriptors the loader of the system cannot start a program (127).
                    #expect(outcome.isDocumented || outcome.status == 127, "\(limit) descriptors, \(command): \(outcome.status)")
                    if outcome.status != 0 { #expect(!outcome.errors.isEmpty, "\(limit) descriptors, \(command)") }
                }
            }
        }
    }

    @Test("Damaged import files are refused or read, without a crash, a hang or a large memory", arguments: AttackRun.seeds)
    func importsDamagedFile(seed: UInt64) async throws {
        try await AttackedVault.with(accounts: 0) { vault in
            var random = SeededGenerator(seed: seed)
            let samples = [
                #"{"version":1,"header":{"slots":null,"params":null},"db":{"version":2,"entries":[{"type":"totp","uuid":"a","name":"x","issuer":"y","info":{"secret":"NB2W45DFOIZA","algo":"SHA1","digits":6,"period":30}}]}}"#,
                #"[{"secret":"NB2W45DFOIZA","issuer":"y","label":"x","digits":6,"type":"TOTP","algorithm":"SHA1","period":30}]"#,
                #"{"schemaVersion":4,"services":[{"name":"y","secret":"NB2W45DFOIZA","otp":{"account":"x","digits":6,"tokenType":"TOTP"}}]}"#,
                "otpauth://totp/a:b?secret=NB2W45DFOIZA\notpauth-migration://offline?data=CjEKCkhello",
                "{\"a\":" + String(repeating: "[", count: 100_000),
                "\u{89}PNG\r\n\u{1A}\n\u{0}\u{0}\u{0}\rIHDR\u{FF}\u{FF}\u{FF}\u{FF}",
                String(repeating: "otpauth://totp/a:b?secret=NB2W45DFOIZA\n", count: 20_000),
            ]
            for number in 0..<AttackRun.rounds(14, 200) {
                var bytes = Array(samples[number % samples.count].utf8)
                for _ in 0..<Int.random(in: 0...4, using: &random) {
                    let offset = Int.random(in: 0..<bytes.count, using: &random)
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: bytes[offset] = UInt8.random(in: 0...255, using: &random)
                    case 1: bytes.removeSubrange(offset..<min(bytes.count, offset + 9))
                    default: bytes.insert(contentsOf: bytes.prefix(50), at: offset)
                    }
                    if bytes.isEmpty { bytes = [0] }
                }
                let file = vault.directory.file("import")
                try Data(bytes).write(to: URL(filePath: file))
                let script = "\(AttackRun.isSanitized ? "" : "ulimit -v 4000000; ")exec \"$1\" import --dry-run \"$2\""
                let outcome = try await TestProcess.run(
                    "sh", ["-c", script, "sh", AttackedProgram.path, file], environment: vault.environment, within: .seconds(60))
                #expect(outcome.isDocumented, "seed \(seed), file \(number): \(outcome.status) \(outcome.errors.suffix(300))")
                #expect(outcome.isSafeToShow && !outcome.shown.contains("NB2W45DFOIZA"))
            }
        }
    }

    @Test("Hostile configuration files are refused with their faults, in little time and memory")
    func configuresServer() async throws {
        try await AttackedVault.with(accounts: 0) { vault in
            let bombs = [
                "a: &a [x,x,x]\nb: &b [*a,*a,*a]\nc: &c [*b,*b,*b]\nusers: *c\n", "users: [{name: x, password: ''}]\n",
                "clients: [{id: app, secret: '', redirectURIs: ['javascript:alert(1)']}]\n",
                "clients: [{id: app, redirectURIs: ['*', '//x']}]\n",
                "server: {contextPath: '/../..', cookieName: \"a\\r\\nb\"}\n", "server: {limits: {maxConnections: -1}}\n",
                "server: {limits: {lockout: {failures: 0, within: 0, duration: 0}}}\n", "server: {corsOrigins: ['*']}\n",
                "journeys: {a: {nodes: {x: {type: InnerTreeEvaluatorNode, tree: a, outcomes: {default: x}}}}}\n",
                String(repeating: "[", count: 100_000), String(repeating: "a:\n ", count: 20_000), "\u{0}",
                "!!python/object:os.system x\n",
                String(repeating: "- ", count: 50_000),
            ]
            for (number, bomb) in bombs.enumerated() {
                let file = vault.directory.file("server.yaml")
                try Data(bomb.utf8).write(to: URL(filePath: file))
                let outcome = try await vault.run(["serve", "--validate-config", file], within: .seconds(30))
                #expect(outcome.status == 65, "file \(number): \(outcome.status) \(outcome.shown.prefix(300))")
                #expect(outcome.isSafeToShow)
            }
        }
    }
}
#endif
