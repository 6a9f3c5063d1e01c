import Foundation
import Logging
import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer
@testable import signet

@Suite("Texts of other users and of servers, on the terminal and in the log")
struct TerminalTextTests {
    /// A user name that sets the title of the terminal, clears the screen, and adds a line of its own.
    private static let attack = "eve\u{1B}]0;owned\u{07}\u{1B}[2J \nUser: root  password: fake"
    private static let escaped = #"eve\u{1B}]0;owned\u{7}\u{1B}[2J \nUser: root  password: fake"#

    private static func isPlain(_ line: String) -> Bool { line.unicodeScalars.allSatisfy(\.isVisible) }

    @Test(
        "A value cannot act on the terminal, change the direction of text, hide in it, or begin a line",
        arguments: [
            ("\u{1B}[2J", #"\u{1B}[2J"#), ("\u{9B}31m", #"\u{9B}31m"#), ("\0\u{08}\u{7F}", #"\u{0}\u{8}\u{7F}"#),
            ("a\r\nb\tc", #"a\r\nb\tc"#), ("\u{202A}\u{202E}\u{2066}\u{2069}", #"\u{202A}\u{202E}\u{2066}\u{2069}"#),
            ("\u{200E}\u{200F}\u{61C}", #"\u{200E}\u{200F}\u{61C}"#),
            ("a\u{200B}\u{200D}\u{2060}\u{FEFF}\u{AD}b", #"a\u{200B}\u{200D}\u{2060}\u{FEFF}\u{AD}b"#),
            ("\u{2028}\u{2029}", #"\u{2028}\u{2029}"#), ("\u{E0041}\u{3164}\u{34F}", #"\u{E0041}\u{3164}\u{34F}"#),
            ("Jörg Ωμέγα 東京 ❤\u{FE0F} 'x' \\", "Jörg Ωμέγα 東京 ❤\u{FE0F} 'x' \\"),
        ])
    func escapesValue(value: String, expected: String) {
        let line: TerminalText = "Account \(value)."
        #expect(line.description == "Account \(expected).")
        #expect(TerminalText(value).description == expected)
    }

    @Test("A literal keeps its line feeds, and so does the text of a journey; a text that is escaped already stays as it is")
    func keepsLinesOfProgram() {
        let value = "c\nd"
        let inner: TerminalText = "a\nb \(value)"
        let outer: TerminalText = "\(inner)\n" + "e"
        #expect(outer.description == "a\nb c\\nd\ne")
        #expect(TerminalText(lines: "terms\n\u{1B}[2Jmore").description == "terms\n\\u{1B}[2Jmore")
        #expect(TerminalText(Self.escaped).description == Self.escaped)
    }

    @Test("JSON with such a value is one line of plain characters, and is read back as the value")
    func escapesJSON() throws {
        for value in [Self.attack, "\u{9B}\u{202E}\u{200B}\u{E0041}\u{7F}"] {
            let line = JSONText.line(.object(["name": .string(value)])).description
            #expect(Self.isPlain(line))
            #expect(try JSON.value(of: line.utf8)["name"]?.string == value)
        }
    }

    @Test("The announcement of an email is one line, whatever the user's name is")
    func announcesEmailInOneLine() throws {
        let recipient = EmailRecipient(user: UserKey(realm: .root, name: Self.attack), exists: true, address: nil)
        let email = Email(.link("http://127.0.0.1/x", issuer: "Signet", in: .english), to: recipient)
        #expect(Serve.line(for: email, json: false).description == "Email to \(Self.escaped): http://127.0.0.1/x")
        let json = Serve.line(for: email, json: true).description
        #expect(Self.isPlain(json))
        #expect(try JSON.value(of: json.utf8)["email"]?["user"]?.string == Self.attack)
    }

    @Test("A log entry is one line, whatever its message, its metadata and its error contain")
    func escapesLogEntry() {
        struct Refused: Error, CustomStringConvertible { let description: String }
        let lines = Mutex<[String]>([])
        var handler = TerminalLogHandler(label: "test", clock: ManualClock(Date(timeIntervalSince1970: 0))) { line in
            lines.withLock { $0.append(line.description) }
        }
        handler[metadataKey: "always"] = "\(Self.attack)"
        handler.metadataProvider = Logger.MetadataProvider { ["request": .array(["\u{9B}2J"])] }
        let logger = Logger(label: "test") { _ in handler }
        logger.warning(
            "refused \(Self.attack)", metadata: ["user": .string(Self.attack), "more": ["key\n": "\u{202E}"]])
        logger.error("failed", metadata: ["error": "\(Refused(description: Self.attack))"])
        let written = lines.withLock { $0 }
        #expect(written.count == 2)
        for line in written { #expect(Self.isPlain(line)) }
        #expect(written.first?.hasPrefix("1970-01-01T00:00:00Z warning test: always=\(Self.escaped) ") == true)
        #expect(written.first?.hasSuffix("refused \(Self.escaped)") == true)
    }

    @Test("A client's user name and request path do not reach the operator's terminal unescaped", arguments: ["info", "trace"])
    func serverShowsNoRawText(level: String) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let process = try cli.start(["serve", "--port", "0", "--state", "memory", "--log-level", level])
            let ready = try await process.waitForOutput { output, _ in output.contains("Ctrl-C") }.output
            let url = String(try #require(ready.firstMatch(of: /server: (http\S+)/)).1)
            try await AsyncHTTPTransport().use { transport in
                let journey = Journey(try ServerProfile(url: url), transport: transport)
                await #expect(throws: (any Error).self) {
                    _ = try await Browser(journey: journey, user: Self.attack, password: "wrong").begin("Login")
                }
            }
            let port = try Endpoint(url).port
            let socket = try ClientSocket(port: port)
            socket.send("GET /am/\u{9B}2J?\u{202E} HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n\r\n")
            _ = socket.receive()
            process.signal(SIGTERM)
            let outcome = try await process.end().succeeds()
            for text in [outcome.output, outcome.errors] {
                let lines = text.split(separator: "\n", omittingEmptySubsequences: true).map(String.init)
                for line in lines { #expect(Self.isPlain(line) && !line.hasPrefix("User: root")) }
            }
        }
    }
}
