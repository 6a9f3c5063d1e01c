import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import signet

@Suite("signet code --copy")
struct CodeCopyTests {
    private func withCounter(_ body: (CommandLineFixture, FakeDesktop) async throws -> Void) async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri("hotp", "&counter=7")).succeeds()
            try await body(cli, FakeDesktop(at: cli))
        }
    }

    /// The desktops, the installed programs and the one that `signet` uses.
    private static let desktops: [(name: String, wayland: Bool, x11: Bool, programs: [String])] = [
        ("wl-copy", true, true, ["wl-copy", "wl-paste", "xclip", "xsel"]), ("xclip", true, true, ["xclip", "xsel"]),
        ("xclip", false, true, ["wl-copy", "wl-paste", "xclip", "xsel"]), ("xsel", false, true, ["xsel"]),
    ]

    @Test(
        "The code goes to the program for the desktop on its standard input, and is neither printed nor an argument",
        arguments: desktops)
    func copiesWithDesktopProgram(desktop: (name: String, wayland: Bool, x11: Bool, programs: [String])) async throws {
        try await withCounter { cli, fake in
            for program in desktop.programs { try fake.addClipboard(program) }
            let environment = fake.environment(wayland: desktop.wayland, x11: desktop.x11)
            let outcome = try await cli.signet("code", "mira", "--copy", "--clear-after", "0", environment: environment)
                .succeeds()
            #expect(outcome.output == "")
            #expect(outcome.errors == "Copied with \(desktop.name). It stays on the clipboard.\n")
            #expect(fake.text == "099169")
            #expect(fake.calls.hasPrefix(desktop.name) && !fake.calls.contains("099169"), "\(fake.calls)")
        }
    }

    @Test("The clipboard is cleared after the given time by a process of its own", arguments: ["wl-copy", "xclip", "xsel"])
    func clearsClipboardLater(program: String) async throws {
        try await withCounter { cli, fake in
            try fake.addClipboard(program)
            if program == "wl-copy" { try fake.addClipboard("wl-paste") }
            let environment = fake.environment(wayland: program == "wl-copy", x11: program != "wl-copy")
            let outcome = try await cli.signet("code", "mira", "--copy", "--clear-after", "1", environment: environment)
                .succeeds()
            #expect(outcome.errors.hasSuffix("The clipboard is cleared in 1 s.\n"))
            let isCleared = try await eventually { fake.text.isEmpty }
            #expect(isCleared)
            #expect(!fake.calls.contains("099169"))
        }
    }

    @Test("Only a clipboard that still has the code is cleared")
    func keepsOtherContent() async throws {
        try await withCounter { cli, fake in
            try fake.addClipboard("xclip")
            let environment = fake.environment(x11: true)
            let command = ["clear-clipboard", "xclip", "--after", "0"]
            for other in ["0991690", "099168", String(repeating: "x", count: 100)] {
                try fake.put(other.utf8, as: "text")
                _ = try await cli.start(command, input: .text("099169"), environment: environment).end()
                #expect(fake.text == other)
            }
            try fake.put("099169".utf8, as: "text")
            try await cli.start(command, input: .text("099169"), environment: environment).end().succeeds()
            #expect(fake.text == "")
        }
    }

    @Test("When one program fails, the next one is used")
    func triesNextProgram() async throws {
        try await withCounter { cli, fake in
            try fake.add("xclip", "exit 3")
            try fake.addClipboard("xsel")
            let environment = fake.environment(x11: true)
            let outcome = try await cli.signet("code", "mira", "--copy", "--clear-after", "0", environment: environment)
                .succeeds()
            #expect(outcome.errors.contains("Copied with xsel"))
            #expect(fake.text == "099169")
        }
    }

    @Test(
        "Without a program for the desktop, the terminal gets the code by OSC 52, and signet says that it does not clear it",
        .enabled(if: Programs.missing(["script"]).isEmpty, "script(1) is not installed"))
    func copiesToTerminal() async throws {
        try await withCounter { cli, _ in
            let outcome = try await cli.startAtTerminal(["code", "mira", "--copy"]).end()
            #expect(outcome.status == 0)
            #expect(outcome.output.contains("\u{1B}]52;c;MDk5MTY5\u{07}") && outcome.output.contains("does not clear it"))
            #expect(!outcome.output.contains("099169"))
        }
        #expect(CodeCopier.sequence(for: "099169") == "\u{1B}]52;c;MDk5MTY5\u{07}")
    }

    @Test(
        "Without a desktop and a terminal, --copy exits with 69 and uses up no code",
        .enabled(if: Programs.missing(["setsid"]).isEmpty, "setsid(1) is not installed"))
    func refusesWithoutClipboard() async throws {
        try await withCounter { cli, _ in
            let words = ["--wait", Program.path, "code", "mira", "--copy"]
            try await cli.start(words, program: "setsid").end().fails(69, "no clipboard", "wl-clipboard", "xclip")
            #expect(try await cli.signet("code", "mira").succeeds().line == "099169")
        }
    }

    @Test(
        "Options that contradict --copy or miss it exit with 64",
        arguments: [
            ["--copy", "--json"], ["--clear-after", "5"], ["--copy", "--clear-after", "-1"], ["--next", "--wait"],
            ["--at-least", "9"],
            ["--wait", "--at-least", "0"],
        ])
    func refusesContradictoryOptions(options: [String]) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            try await cli.start(["code", "mira"] + options).end().fails(64, "Usage: signet code")
        }
    }

    // MARK: The period

    @Test("signet code --next prints the code of the following period and its start", arguments: [false, true])
    func printsNextCode(json: Bool) async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri("totp", "&period=600")).succeeds()
            let before = Date()
            let outcome = try await cli.start(["code", "mira", "--next"] + (json ? ["--json"] : [])).end().succeeds()
            let period = try #require(OTPPeriod(seconds: 600))
            let possible = try [before, Date()].map {
                try TOTP.code(secret: OATHSample.secret, at: $0.addingTimeInterval(600), period: period)
            }
            if json {
                let start = try #require(outcome.json["validFrom"]?.string)
                let date = try Date(start, strategy: .iso8601)
                #expect(date > before && date.timeIntervalSince1970.truncatingRemainder(dividingBy: 600) == 0)
                #expect(possible.contains(outcome.json["code"]?.string ?? ""))
            } else {
                #expect(possible.contains(outcome.line))
                #expect(outcome.errors.hasPrefix("Valid from 2"))
            }
        }
    }

    @Test("signet code --next for a counter exits with 65 and uses up no code")
    func refusesNextOfCounter() async throws {
        try await withCounter { cli, _ in
            try await cli.signet("code", "mira", "--next").fails(65, "counter")
            #expect(try await cli.signet("code", "mira").succeeds().line == "099169")
        }
    }

    @Test("signet code --wait uses a code with enough time left, and refuses more time than the period has")
    func waitsOnlyAsLongAsNeeded() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri("totp", "&period=1")).succeeds()
            try await cli.signet("code", "mira", "--wait", "--at-least", "1").succeeds()
            try await cli.signet("code", "mira", "--wait").fails(65, "1 seconds", "5")
        }
    }

    @Test(
        "At a terminal, signet code says how long the code is valid, below the digits",
        .enabled(if: Programs.missing(["script"]).isEmpty, "script(1) is not installed"))
    func printsSecondsLeft() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri()).succeeds()
            for options in [[], ["--type", "totp"]] {
                let outcome = try await cli.startAtTerminal(["code", "mira"] + options).end()
                let lines = outcome.output.split(whereSeparator: \.isNewline)
                #expect(outcome.status == 0 && lines.count == 2 && lines.first?.count == 6, "\(outcome.output)")
                #expect(lines.last?.hasSuffix(" s left") == true)
            }
        }
    }
}
