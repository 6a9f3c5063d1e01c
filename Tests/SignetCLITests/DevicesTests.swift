import SignetCore
import SignetServer
import TestSupport
import Testing

@testable import signet

@Suite("signet devices, against a server")
struct DevicesTests {
    private static let password = "correct horse"

    /// Runs `body` with a server, at which a user has a device of each kind but a passkey, and a machine on which this user is
    /// logged in.
    /// - Parameters:
    ///   - body: The code that uses them.
    ///   - afterwards: The code that runs when the server has stopped.
    /// - Throws: The errors of both, and those of the login.
    private static func withLogin(
        _ body: (CommandLineFixture, TestServer.Live) async throws -> Void,
        afterwards: (CommandLineFixture) async throws -> Void = { _ in }
    ) async throws {
        let configuration = ServerConfiguration {
            $0.users = [User(name: "demo", password: Secret(password.utf8))]
            $0.pollInterval = .milliseconds(20)
        }
        try await CommandLineFixture.with { cli in
            try await TestServer.live(configuration) { server in
                _ = try await server.user(password: password).registerDevices(over: server.transport)
                let arguments = ["login", server.url, "--answer", "name=demo", "--answer", "password=-"]
                let ended = try await TaskLimiter.processes.pass {
                    try await cli.start(arguments, input: .text("\(password)\n")).end()
                }
                _ = try ended.succeeds()
                try await body(cli, server)
            }
            try await afterwards(cli)
        }
    }

    @Test("The devices are listed with kind, name, time and ID, and as JSON, one a line")
    func listsDevicesOfLogin() async throws {
        try await Self.withLogin { cli, _ in
            let lines = try await cli.signet("devices").succeeds().output.split(separator: "\n")
            let names = ["oath     OATH Device  ", "push     Phone        ", "binding  Tablet       ", "profile  Laptop       "]
            #expect(lines.count == names.count)
            for (line, name) in zip(lines, names) { #expect(line.hasPrefix(name), "\(line)") }
            #expect(lines[1].contains("registered 20") || lines[1].contains("used 20"))
            #expect(lines[3].hasSuffix("  laptop-1"))
            let devices = try await cli.signet("devices", "list", "--json").succeeds().jsonLines
            let kinds = devices.map { $0["kind"]?.string ?? "" }
            #expect(kinds == ["oath", "push", "binding", "profile"])
            #expect(devices[2]["deviceId"] == "tablet-1" && devices[2]["createdAt"]?.string?.hasSuffix("Z") == true)
            #expect(devices[3]["location"]?["latitude"] == .number(47.5))
            let phones = try await cli.signet("devices", "list", "--kind", "push", "--json").succeeds().jsonLines
            #expect(phones == [devices[1]])
            try await cli.signet("devices", "list", "--kind", "toaster").fails(64, "toaster")
        }
    }

    @Test("A device is renamed by its name or ID, and removed only after asking")
    func renamesAndRemovesDevices() async throws {
        try await Self.withLogin { cli, _ in
            let renamed = try await cli.signet("devices", "rename", "phone", "Work phone").succeeds()
            #expect(renamed.output == "Renamed Phone to Work phone\n")
            let profile = try await cli.signet("devices", "rename", "laptop-1", "Work phone", "--json").succeeds().json
            #expect(profile["name"] == "Work phone" && profile["kind"] == "profile")

            try await cli.signet("devices", "remove", "Work phone").fails(65, "several devices match", "laptop-1")
            let unasked = try await cli.signet("devices", "remove", "Work phone", "--kind", "push")
            unasked.fails(77, "can't be undone", "--yes")
            let removed = try await cli.signet("devices", "remove", "Work phone", "--kind", "push", "--yes").succeeds()
            #expect(removed.output == "Removed push device 'Work phone'\n")
            let json = try await cli.signet("devices", "remove", "laptop-1", "--yes", "--json").succeeds().json
            #expect(json["id"] == "laptop-1")
            try await cli.signet("devices", "remove", "laptop-1", "--yes").fails(66, "no device called 'laptop-1'")
            try await cli.signet("devices", "rename", "Tablet", " ").fails(65, "needs a name")
            let left = try await cli.signet("devices", "--json").succeeds().jsonLines.map { $0["name"]?.string ?? "" }
            #expect(left == ["OATH Device", "Tablet"])
        }
    }

    @Test("Names and IDs of a server do not act on the terminal")
    func escapesNamesOfDevices() async throws {
        try await Self.withLogin { cli, _ in
            let renamed = try await cli.signet("devices", "rename", "Tablet", "a\u{1B}[31m\nb").succeeds()
            let list = try await cli.signet("devices").succeeds()
            for output in [renamed.output, list.output] {
                #expect(!output.contains("\u{1B}") && output.contains("a\\u{1B}[31m\\nb"))
            }
        }
    }

    @Test("Without a login, and after the end of the session, the command says how to log in")
    func explainsMissingSession() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("devices").fails(77, "no user is logged in here", "signet login")
        }
        try await Self.withLogin { cli, server in
            let count = try await server.devServer.endSessions(of: "demo")
            #expect(count > 0)
            let ended = try await cli.signet("devices", "--json")
            #expect(ended.status == 77 && ended.jsonError?["code"] == "token.loginRequired")
            #expect(ended.jsonError?["message"]?.string?.contains("the session at \(server.url) has ended") == true)
            try await cli.signet("devices", "remove", "Phone", "--yes").fails(77, "signet login --profile")
            // The vault still has the session: only a logout removes it.
            try await cli.signet("logout").succeeds()
        }
    }

    @Test("Without the server the exit code is 69, and an answer that is not one of AM ends with 76")
    func explainsMissingServer() async throws {
        try await Self.withLogin { _, _ in
        } afterwards: { cli in
            for arguments in [["devices"], ["devices", "remove", "Phone", "--yes"]] {
                try await cli.start(arguments).end().fails(69, "127.0.0.1", "try again")
            }
        }
        let portal = try RawServer { connection in
            guard connection.request() != nil else { return }
            connection.answer("200 OK", headers: ["Content-Type: text/html"], "<html>welcome</html>")
        }
        let configuration = ServerConfiguration { $0.users = [User(name: "demo", password: Secret(Self.password.utf8))] }
        try await CommandLineFixture.with { cli in
            try await TestServer.live(configuration) { server in
                let users = #"{"endpoints":{"users":"http://127.0.0.1:\#(portal.port)/users"}}"#
                let settings = try cli.write(users.utf8, to: "settings.json")
                let arguments = ["login", server.url, "--settings", settings, "--answer", "name=demo", "--answer", "password=-"]
                try await cli.start(arguments, input: .text("\(Self.password)\n")).end().succeeds()
                let outcome = try await cli.signet("devices", "--json")
                #expect(outcome.status == 76 && outcome.jsonError?["code"] == "devices.serverMisbehaved", "\(outcome.errors)")
            }
        }
    }
}
