import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@Suite("signet push listen with several accounts")
struct PushListenTests {
    @Test("Without a name signet push listen receives the messages of all accounts, and each line has its account")
    func listensToAllAccounts() async throws {
        try await withTwoAccounts { mira, noa, cli in
            let listening = try cli.start(["push", "listen"])
            try await listening.waitForOutput { _, errors in
                errors.contains("Listening for Harbor: mira.") && errors.contains("Listening for Harbor: noa.")
            }
            mira.send(try mira.message(id: "M1", text: "to mira"), id: "1")
            noa.send(try noa.message(id: "N1", text: "to noa"), id: "1")
            let lines = try await listening.waitForOutput { output, _ in output.split(separator: "\n").count == 2 }
                .output.split(separator: "\n")
            listening.signal(SIGINT)
            _ = await listening.end()
            let toMira = lines.filter { $0.contains("Harbor: mira") && $0.contains("to mira") }
            let toNoa = lines.filter { $0.contains("Harbor: noa") && $0.contains("to noa") }
            #expect(toMira.count == 1 && toNoa.count == 1)
            #expect(try await cli.messages().count == 2)
        }
    }

    @Test("With --once signet push listen shows one message of any account, and ends")
    func endsAfterFirstMessageOfAny() async throws {
        try await withTwoAccounts { mira, noa, cli in
            let listening = try cli.start(["push", "listen", "--once", "--json"])
            noa.send(try noa.message(id: "N1"), id: "1")
            let first = try await listening.end().succeeds()
            #expect(first.json["messageId"]?.string == "N1" && first.json["account"]?.string == "noa")

            mira.send(try mira.message(id: "M1"), id: "1")
            let second = try await cli.signet("push", "listen", "--once", "--json").succeeds()
            #expect(second.jsonLines.count == 1)
        }
    }

    @Test("A name still selects one account of several")
    func listensToNamedAccount() async throws {
        try await withTwoAccounts { mira, noa, cli in
            noa.send(try noa.message(id: "N1"), id: "1")
            let listening = try cli.start(["push", "listen", "mira", "--once", "--json"])
            mira.send(try mira.message(id: "M1"), id: "1")
            #expect(try await listening.end().succeeds().json["messageId"]?.string == "M1")
            let storedIDs = try await cli.messages().compactMap { $0["messageId"]?.string }
            #expect(storedIDs == ["M1"])
        }
    }

    @Test("An account that its server refuses is reported by name, and the other accounts still receive messages")
    func keepsListeningToOthers() async throws {
        try await withRefusedAccount { mira, cli in
            let listening = try cli.start(["push", "listen", "--once", "--json"])
            let words = ["Harbor: noa: ", "does not know this mechanism", "the other accounts"]
            try await listening.waitForOutput { _, errors in words.allSatisfy { errors.contains($0) } }
            mira.send(try mira.message(id: "M1"), id: "1")
            #expect(try await listening.end().succeeds().json["messageId"]?.string == "M1")
            try await cli.signet("push", "listen", "noa").fails(77, "does not know this mechanism")
        }
    }

    @Test(
        "After the failure of an account, signet push listen ends with its exit code at --timeout, and reports it in one line",
        .tags(.slow))
    func endsWithFailureOfAccount() async throws {
        try await withRefusedAccount { _, cli in
            async let texts = cli.start(["push", "listen", "--timeout", "5"]).end()
            async let lines = cli.start(["push", "listen", "--timeout", "5", "--json"]).end()
            async let first = cli.start(["push", "listen", "--timeout", "5", "--once"]).end()
            let (text, json, once) = try await (texts, lines, first)
            let reason = "does not know this mechanism"
            text.fails(77, "signet: Harbor: noa: ", reason, "signet still listens for the other accounts")
            #expect(text.errors.components(separatedBy: reason).count == 2)
            json.fails(77)
            let message = json.jsonError?["message"]?.string ?? ""
            #expect(message.hasPrefix("Harbor: noa: ") && message.contains(reason), "\(json.errors)")
            #expect(json.jsonError?["code"]?.string == "authenticator.refusedByServer")
            once.fails(77, reason, "no message came in 5 seconds")
        }
    }

    @Test("When all accounts fail for good, signet push listen ends at once, and each failure is a line of JSON")
    func endsWhenAllFail() async throws {
        let (miraPort, noaPort) = (try ReservedPort(), try ReservedPort())
        let (mira, noa) = (try FakePushServer(port: miraPort), try FakePushServer(port: noaPort))
        try await CommandLineFixture.with { cli in
            try await enroll(mira, noa, cli)
            mira.stop()
            noa.stop()
            let refusing = [try refusingServer(miraPort), try refusingServer(noaPort)]
            defer { for server in refusing { server.stop() } }
            let outcome = try await cli.signet("push", "listen", "--json")
            outcome.fails(77)
            let lines = try outcome.errors.split(separator: "\n").map { try JSON.value(of: Array($0.utf8)) }
            let codes = lines.map { $0["error"]?["code"]?.string }
            #expect(codes == ["authenticator.refusedByServer", "authenticator.refusedByServer"])
        }
    }

    /// Two servers with one account each, `Harbor:mira` and `Harbor:noa`.
    private func withTwoAccounts(_ body: (FakePushServer, FakePushServer, CommandLineFixture) async throws -> Void) async throws {
        let (mira, noa) = (try FakePushServer(), try FakePushServer())
        defer {
            mira.stop()
            noa.stop()
        }
        try await CommandLineFixture.with { cli in
            try await enroll(mira, noa, cli)
            try await body(mira, noa, cli)
        }
    }

    /// A server with the account `Harbor:mira`, and another one that refuses to send the messages of the account `Harbor:noa`.
    private func withRefusedAccount(_ body: (FakePushServer, CommandLineFixture) async throws -> Void) async throws {
        let port = try ReservedPort()
        let (mira, gone) = (try FakePushServer(), try FakePushServer(port: port))
        defer { mira.stop() }
        try await CommandLineFixture.with { cli in
            try await enroll(mira, gone, cli)
            gone.stop()
            let refusing = try refusingServer(port)
            defer { refusing.stop() }
            try await body(mira, cli)
        }
    }

    /// Starts a server that has none of the accounts.
    private func refusingServer(_ port: ReservedPort) throws -> RawServer {
        try RawServer(port: port) { connection in
            while connection.request() != nil { connection.answer("404 Not Found") }
        }
    }

    private func enroll(_ mira: FakePushServer, _ noa: FakePushServer, _ cli: CommandLineFixture) async throws {
        try await cli.signet("enroll", mira.uri()).succeeds()
        let invitation = try PushInvitation.sample(port: noa.port)
        try await cli.signet("enroll", invitation.uri(account: "noa")).succeeds()
    }
}
