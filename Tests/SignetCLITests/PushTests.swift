import Foundation
import SignetCore
import SignetJourney
import SignetTesting
import TestSupport
import Testing

@testable import signet

@Suite("signet push, against signet serve")
struct PushTests {
    @Test("A tap message is listed and approved, the login succeeds, and a second answer is refused")
    func approvesTap() async throws {
        try await withServer { server, cli in
            #expect(try await cli.signet("push", "list").succeeds().line == "No message waits for an answer.")
            let login = try await server.browser.begin("PushLogin")
            let message = try await listenOnce(cli)
            let id = try #require(message["id"]?.string)
            #expect(message["state"]?.string == "pending" && message["type"]?.string == "default")
            #expect(message["message"]?.string?.contains("demo") == true)
            #expect(try await cli.signet("push", "list", "--json").succeeds().json == message)

            let approved = try await cli.signet("push", "approve", String(id.prefix(6)).lowercased(), "--json").succeeds()
            #expect(approved.json["state"]?.string == "approved")
            #expect(try await server.refusal(of: login) == nil)
            #expect(try await cli.signet("push", "list", "--json").succeeds().output == "")
            let states = try await cli.messages().map { $0["state"]?.string }
            #expect(states == ["approved"])
            for command in ["approve", "deny"] { try await cli.signet("push", command, id).fails(65, "already approved") }
        }
    }

    @Test("A number message requires an offered number, a wrong one is refused and the right one logs in")
    func approvesNumber() async throws {
        try await withServer { server, cli in
            let login = try await server.browser.begin("PushNumberLogin")
            let right = try #require(try Browser.step(login).hiddenValue("pushChallengeNumber"))
            let message = try await listenOnce(cli)
            let id = try #require(message["id"]?.string)
            let numbers = (message["numbers"]?.array ?? []).compactMap(\.lenientInteger).map(String.init)
            #expect(message["type"]?.string == "challenge" && numbers.count == 3 && numbers.contains(right))
            let otherNumber = numbers.first { $0 != right }
            let wrong = try #require(otherNumber)

            try await cli.signet("push", "approve", id).fails(65, "pick the number", right)
            try await cli.signet("push", "approve", id, "--number", "100").fails(65, "pick the number")
            try await cli.signet("push", "approve", id, "--number", wrong).fails(77, "refused")
            let states = try await cli.messages().map { $0["state"]?.string }
            #expect(states == ["pending"])
            try await cli.signet("push", "approve", id, "--number", right).succeeds()
            #expect(try await server.refusal(of: login) == nil)
        }
    }

    @Test("A biometric message exits with 77 without user verification, and a stand-in reports itself as one")
    func verifiesUserForBiometricMessage() async throws {
        try await withServer { server, cli in
            let login = try await server.browser.begin("PushBiometricLogin")
            let message = try await listenOnce(cli)
            let id = try #require(message["id"]?.string)
            #expect(message["type"]?.string == "biometric")
            try await cli.signet("push", "approve", id).fails(77, "not recognized", "--simulate-biometric")
            try await cli.signet("push", "approve", id, input: .text("yes\n")).fails(77, "not recognized")
            let states = try await cli.messages().map { $0["state"]?.string }
            #expect(states == ["pending"])
            let approved = try await cli.signet("push", "approve", id, "--simulate-biometric").succeeds()
            #expect(approved.errors.contains("no sensor") && approved.errors.contains("simulated"))
            #expect(try await server.refusal(of: login) == nil)
        }
    }

    @Test("A denied push fails the login for good")
    func deniesPush() async throws {
        try await withServer { server, cli in
            let login = try await server.browser.begin("PushLogin")
            let id = try #require(try await listenOnce(cli)["id"]?.string)
            #expect(try await cli.signet("push", "deny", id, "--json").succeeds().json["state"]?.string == "denied")
            try await cli.signet("push", "approve", id).fails(65, "already denied")
            #expect(try await server.refusal(of: login) != nil)
        }
    }

    @Test("An unanswered message expires on the server and in the vault, and a late answer is not sent")
    func expiresUnansweredMessage() async throws {
        try await withServer("--push-timeout", "5") { server, cli in
            let login = try await server.browser.begin("PushLogin")
            let id = try #require(try await listenOnce(cli)["id"]?.string)
            #expect(try await server.refusal(of: login) != nil)
            for command in ["approve", "deny"] { try await cli.signet("push", command, id).fails(65, "no longer waits") }
            #expect(try await cli.signet("push", "list", "--json").succeeds().output == "")
            let states = try await cli.messages().map { $0["state"]?.string }
            #expect(states == ["expired"])
        }
    }

    @Test("An unanswered message is sent again to each new listener and stored once; an unknown id exits with 66")
    func redeliversUnansweredMessage() async throws {
        try await withServer { server, cli in
            _ = try await server.browser.begin("PushLogin")
            let (first, second) = (try await listenOnce(cli), try await listenOnce(cli))
            #expect(first == second)
            #expect(try await cli.messages() == [first])
            for id in ["zzz", "", "-1"] {
                let outcome = try await cli.signet("push", "approve", "--", id)
                outcome.fails(66, "'\(id)'")
            }
        }
    }

    @Test("Of an approval and a denial at the same time the server takes one, and the vault stores which")
    func resolvesSimultaneousAnswers() async throws {
        try await withServer { server, cli in
            for _ in 0..<3 {
                let login = try await server.browser.begin("PushLogin")
                let id = try #require(try await listenOnce(cli)["id"]?.string)
                async let yes = cli.start(["push", "approve", id]).end()
                async let no = cli.start(["push", "deny", id]).end()
                let (approval, denial) = (try await yes, try await no)
                let successes = [approval.status, denial.status].filter { $0 == 0 }
                #expect(successes.count == 1, "\(approval.errors)\(denial.errors)")
                #expect([0, 65, 77].contains(approval.status) && [0, 65, 77].contains(denial.status))
                let state = try await cli.messages().first { $0["id"]?.string == id }?["state"]?.string
                #expect(state == (approval.status == 0 ? "approved" : "denied"))
                #expect(try await server.refusal(of: login) == nil ? approval.status == 0 : denial.status == 0)
            }
        }
    }

    @Test("Messages sent while no listener was connected arrive in order")
    func deliversMissedMessagesInOrder() async throws {
        try await withServer { server, cli in
            for _ in 0..<2 { _ = try await server.browser.begin("PushLogin") }
            let listening = try cli.start(["push", "listen", "demo", "--json"])
            try await listening.waitForOutput { output, _ in output.split(separator: "\n").count == 2 }
            _ = try await server.browser.begin("PushNumberLogin")
            let heard = try await listening.waitForOutput { output, _ in output.split(separator: "\n").count == 3 }
            let types = heard.jsonLines.map { $0["type"]?.string }
            #expect(types == ["default", "default", "challenge"])
            listening.signal(SIGINT)
            _ = await listening.end()
            #expect(Set(try await cli.messages()) == Set(heard.jsonLines))
        }
    }

    @Test("The listener exits with a message when a restarted server no longer knows the device")
    func reportsForgottenDevice() async throws {
        let port = try ReservedPort()
        try await CommandLineFixture.with { cli in
            try await RunningServer.with(cli, port: port) { server in try await server.registerForPush(cli) }
            try await RunningServer.with(cli, ["--state", "memory"], port: port) { _ in
                let outcome = try await cli.start(["push", "listen"]).end()
                outcome.fails(77, "does not know this mechanism", "HTTP 401")
            }
        }
    }

    @Test("The login page accepts a one-time code of the vault once, and refuses it the second time")
    func acceptsCodeOnce() async throws {
        try await CommandLineFixture.with { cli in
            try await RunningServer.with(cli) { server in
                let state = try await server.browser.begin("OATHRegistration")
                let uri = try #require(try Browser.step(state).hiddenValue("mfaDeviceRegistration"))
                try await cli.signet("enroll", cli.write(QRDrawing(text: uri).png(), to: "code.png")).succeeds()
                let code = try await cli.signet("code", "demo").succeeds().line
                guard case .loggedIn = try await server.browser.enter(code: code, into: state) else {
                    Issue.record("the code was not taken")
                    return
                }
                await #expect(throws: JourneyError.self) {
                    try await server.browser.enter(code: code, into: try await server.browser.begin("OATHLogin"))
                }
            }
        }
    }

    private func withServer(_ options: String..., body: (RunningServer, CommandLineFixture) async throws -> Void) async throws {
        try await CommandLineFixture.with { cli in
            try await RunningServer.with(cli, options) { server in
                try await server.registerForPush(cli)
                try await body(server, cli)
            }
        }
    }

    private func listenOnce(_ cli: CommandLineFixture) async throws -> JSONValue {
        try await cli.start(["push", "listen", "--once", "--json", "--timeout", "30"]).end().succeeds().json
    }
}
