import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import signet

@Suite("The pages of an OpenAM at a terminal")
struct OpenAMPageTests {
    static let password = "correct horse battery"

    /// Logs in without a terminal, with answers as `--answer` takes them.
    static func logIn(
        _ cli: CommandLineFixture, _ server: PagedOpenAM, _ answers: [String], options: [String] = [], input: String = ""
    ) async throws -> Outcome {
        try await cli.start(
            ["login", server.url] + answers.flatMap { ["--answer", $0] } + options, input: .text(input)
        ).end()
    }

    /// The page of the Membership module on which a new user registers (authenticate 81 and 1094).
    private static func membership(_ infoText: [String]) -> PagedOpenAM.Page {
        PagedOpenAM.Page(
            header: "Self Registration", infoText: infoText,
            callbacks: [PagedOpenAM.name("User Name:", 1), PagedOpenAM.name("Email Address:", 2)])
    }

    @Test("C7: The remark with which OpenAM shows a page again is shown with its header")
    func showsInfoText() async throws {
        let remark = "You must provide a username"
        let server = try PagedOpenAM([Self.membership(["", ""]), Self.membership([remark, ""])])
        try await CommandLineFixture.with { cli in
            let login = try await Self.logIn(cli, server, ["name=c-mm", "name=d@example.org", "name=c-mm", "name=d@example.org"])
            try login.succeeds()
            #expect(login.errors.contains("Self Registration\n\(remark)\n"))
            #expect(login.errors.ranges(of: remark).count == 1)
        }
    }

    @Test("C7: The error for an answer that a second page misses has the remark of that page, also as JSON")
    func repeatsInfoTextInError() async throws {
        let server = try PagedOpenAM([
            Self.membership(["", ""]), Self.membership(["", "An address is needed &amp; was empty."]),
        ])
        try await CommandLineFixture.with { cli in
            let login = try await Self.logIn(cli, server, ["name=c-mm", "name="], options: ["--json"])
            login.fails(64, "--answer name=-")
            let message = login.jsonError?["message"]?.string
            #expect(message?.hasSuffix("; the server says: An address is needed & was empty.") == true)
        }
    }

    @Test("C13: Line breaks and character references of a page are decoded in texts, prompts and choices")
    func decodesMarkup() async throws {
        let prompt = "A user already exists with<br/>the user name you entered.<br/>Please choose one:"
        let server = try PagedOpenAM([
            .init(
                header: "R&amp;D",
                callbacks: [PagedOpenAM.text("It&#39;s<br />taken"), PagedOpenAM.choice(prompt, ["a&amp;b", "ba"], 1)])
        ])
        try await CommandLineFixture.with { cli in
            let wrong = try await Self.logIn(cli, server, ["choice=x"])
            wrong.fails(
                65, "R&D\nIt's\ntaken\n", "'A user already exists with the user name you entered. Please choose one'",
                "'a&b', 'ba'")
            try await Self.logIn(cli, server, ["choice=a&b"]).succeeds()
            #expect(server.inputs(ofPage: 0)["IDToken1"] == .integer(0))
        }
    }

    @Test("C13: A control sequence in character references reaches the terminal escaped")
    func escapesDecodedText() async throws {
        let server = try PagedOpenAM([
            .init(
                header: "&#27;[2J&#x1b;]0;x&#7;",
                callbacks: [PagedOpenAM.text("&#x9b;31m otp&#97;uth://totp/a?secret=MFRGG"), PagedOpenAM.name("Na&#13;me", 1)])
        ])
        try await CommandLineFixture.with { cli in
            let login = try await Self.logIn(cli, server, [])
            login.fails(64, #"\u{1B}[2J\u{1B}]0;x\u{7}"#, #"\u{9B}31m <URI>"#, #"'Na\rme'"#)
            let isPlain = login.errors.unicodeScalars.allSatisfy { $0 == "\n" || $0.isVisible }
            #expect(isPlain && !login.errors.contains("MFRGG"))
        }
    }

    @Test("C13: An error of the server is shown without character references")
    func decodesErrors() async throws {
        let server = try RawServer { connection in
            while connection.request() != nil {
                connection.answer(
                    "404 Not Found", headers: ["Content-Type: application/json"],
                    #"{"code":404,"reason":"Not Found","message":"Realm &quot;/nope&quot; not found"}"#)
            }
        }
        try await CommandLineFixture.with { cli in
            let login = try await cli.signet("login", "http://127.0.0.1:\(server.port)/openam", "--realm", "nope")
            login.fails(77, #"Realm "/nope" not found"#, "a realm of it")
        }
    }

    @Test(
        "The text of a page is decoded once, and what is not a line break stays",
        arguments: [
            ("a<br/>b", "a\nb", "a b"), ("a<BR>b<br / >c", "a\nb\nc", "a b c"), ("&lt;br/&gt;", "<br/>", "<br/>"),
            ("<b>x</b> < <br", "<b>x</b> < <br", "<b>x</b> < <br"), ("<break>", "<break>", "<break>"),
            ("&amp;lt;", "&lt;", "&lt;"),
            ("", "", ""),
        ])
    func decodesPageText(text: String, lines: String, line: String) {
        #expect(text.pageLines == lines && text.pageLine == line)
    }
}
