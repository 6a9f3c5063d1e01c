import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import signet

@Suite("Answers to the pages of an OpenAM")
struct OpenAMAnswerTests {
    private static let old = OpenAMPageTests.password

    /// The pages of the LDAP module for a password that must be reset (authenticate 980 and 981).
    private static let reset: [PagedOpenAM.Page] = [
        PagedOpenAM.login,
        .init(
            header: "Password must be reset.", infoText: ["", "", ""],
            callbacks: [
                PagedOpenAM.password("Old Password", 1), PagedOpenAM.password("New Password", 2),
                PagedOpenAM.password("Confirm Password", 3), PagedOpenAM.confirmation(["Submit", "Cancel"], 4),
            ]),
    ]

    /// The names that answer the three passwords of the second page: the prompts, the positions in the journey, and those in the
    /// step.
    static let names: [[String]] = [
        ["oldpassword", "New Password", "confirmPassword"], ["password2", "password3", "Password4"],
        ["IDToken1", "IDToken2", "IDToken3"],
    ]

    @Test("C4: The passwords after the first one are answered by their prompt or their position", arguments: names)
    func answersLaterPasswords(names: [String]) async throws {
        let server = try PagedOpenAM(Self.reset)
        try await CommandLineFixture.with { cli in
            let login = try await OpenAMPageTests.logIn(
                cli, server, ["name=bob", "password=-"] + names.map { $0 + "=-" } + ["confirmation=Submit"],
                input: "\(Self.old)\n\(Self.old)\nnew horse\nnew horse\n")
            try login.succeeds()
            #expect(server.inputs(ofPage: 0)["IDToken2"] == .string(Self.old))
            let sent = server.inputs(ofPage: 1)
            #expect(sent["IDToken1"] == .string(Self.old))
            #expect(sent["IDToken2"] == .string("new horse") && sent["IDToken3"] == .string("new horse"))
        }
    }

    @Test("C4: The answer password is for the first password of the journey, and a second one is sent to no other prompt")
    func keepsPasswordForFirstField() async throws {
        let server = try PagedOpenAM(Self.reset)
        try await CommandLineFixture.with { cli in
            for name in ["password", "PasswordCallback"] {
                let login = try await OpenAMPageTests.logIn(
                    cli, server, ["name=bob", "password=-", "\(name)=-", "confirmation=Submit"], input: "one\ntwo\n")
                login.fails(64, "'Old Password'", "--answer password2=-")
                #expect(server.inputs(ofPage: 1).isEmpty)
            }
        }
    }

    @Test("C4: A one-time code takes neither the password nor a place among the passwords")
    func keepsPasswordFromCode() async throws {
        let code = PagedOpenAM.Page(
            header: "Please enter your One Time Password",
            callbacks: [PagedOpenAM.password("Enter OTP", 1), PagedOpenAM.confirmation(["Submit OTP", "Request OTP"], 2)])
        let last = PagedOpenAM.Page(header: "Sign in", callbacks: [PagedOpenAM.password("Your secret word", 1)])
        let server = try PagedOpenAM([code, last])
        try await CommandLineFixture.with { cli in
            try await OpenAMPageTests.logIn(
                cli, server, ["password=-", "code=-", "confirmation=Submit OTP"], input: "123456\nmine\n"
            ).succeeds()
            #expect(server.inputs(ofPage: 0)["IDToken1"] == .string("123456"))
            #expect(server.inputs(ofPage: 1)["IDToken1"] == .string("mine"))
        }
    }

    // MARK: Hidden values

    /// The page of the Scripted module (authenticate 14), with or without its script.
    private static func scripted(hasScript: Bool) -> PagedOpenAM.Page {
        let script = """
            (function(output) { output.value = JSON.stringify({tz: new Date().getTimezoneOffset(), js: true}); })
            (document.forms[0].elements['clientScriptOutputData']);
            """
        let text = hasScript ? [PagedOpenAM.text(script, type: 4)] : []
        return PagedOpenAM.Page(
            header: "Sign in to OpenAM", infoText: [""], callbacks: [PagedOpenAM.hidden("clientScriptOutputData", 1)] + text)
    }

    @Test("C8: A hidden value that a script fills in is answered by its ID")
    func answersHiddenValue() async throws {
        let server = try PagedOpenAM([Self.scripted(hasScript: true)])
        try await CommandLineFixture.with { cli in
            let value = #"{"tz":-60,"js":true}"#
            let login = try await OpenAMPageTests.logIn(cli, server, ["clientScriptOutputData=\(value)"])
            try login.succeeds()
            #expect(server.inputs(ofPage: 0)["IDToken1"] == .string(value))
            #expect(!login.errors.contains("Warning"))
        }
    }

    @Test("C8: A hidden value that a script fills in and no answer is for is a warning, and one without a script is not")
    func warnsOfHiddenValue() async throws {
        for hasScript in [true, false] {
            let server = try PagedOpenAM([Self.scripted(hasScript: hasScript)])
            try await CommandLineFixture.with { cli in
                let login = try await OpenAMPageTests.logIn(cli, server, [])
                try login.succeeds()
                #expect(login.errors.contains("--answer clientScriptOutputData=VALUE") == hasScript)
                #expect(login.errors.contains("Warning: ") == hasScript)
            }
        }
    }

    // MARK: Modules and levels

    @Test("C13: The options --module and --level start a module and a level, and the profile keeps its journey")
    func startsModuleAndLevel() async throws {
        let server = try PagedOpenAM([])
        try await CommandLineFixture.with { cli in
            try await cli.signet("login", server.url, "--module", "DataStore").succeeds()
            try await cli.signet("login", "--level", "2").succeeds()
            try await cli.signet("login").succeeds()
            let queries = server.starts.map { $0.drop { $0 != "?" }.prefix { $0 != " " } }
            #expect(
                queries == [
                    "?authIndexType=module&authIndexValue=DataStore", "?authIndexType=level&authIndexValue=2",
                    "?authIndexType=service&authIndexValue=Login",
                ])
        }
    }

    /// The option, OpenAM's response (authenticate 184 and 194), and the question that names the option's value.
    static let unknown: [(option: [String], status: String, message: String, question: String)] = [
        (["--module", "nope"], "404 Not Found", "Authentication Module Not Found.", "is there a module called 'nope'"),
        (["--level", "99"], "400 Bad Request", "No Configuration found", "is there a module of level 99"),
    ]

    @Test("C13: A module or a level that OpenAM does not have is named", arguments: unknown)
    func reportsUnknownModule(option: [String], status: String, message: String, question: String) async throws {
        let server = try RawServer { connection in
            while connection.request() != nil {
                connection.answer(
                    status, headers: ["Content-Type: application/json"],
                    #"{"code":\#(status.prefix(3)),"reason":"\#(status.dropFirst(4))","message":"\#(message)"}"#)
            }
        }
        try await CommandLineFixture.with { cli in
            let login = try await cli.start(["login", "http://127.0.0.1:\(server.port)/openam"] + option).end()
            login.fails(77, message, question)
        }
    }
}
