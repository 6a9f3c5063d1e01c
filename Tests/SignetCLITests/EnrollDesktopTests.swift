import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import signet

@Suite("signet enroll from the desktop")
struct EnrollDesktopTests {
    private static let uri = OATHSample.uri()

    private func withDesktop(_ body: (CommandLineFixture, FakeDesktop) async throws -> Void) async throws {
        try await CommandLineFixture.with { cli in try await body(cli, FakeDesktop(at: cli)) }
    }

    private static func picture() throws -> [UInt8] { try PNGCodec.encode(QRDrawing(text: uri).image(scale: 4)) }

    // MARK: The clipboard

    @Test(
        "signet enroll --clipboard takes a copied picture or URI",
        arguments: [("wl-copy", true), ("wl-copy", false), ("xclip", true), ("xclip", false), ("xsel", false)])
    func enrollsFromClipboard(program: String, isPicture: Bool) async throws {
        try await withDesktop { cli, fake in
            try fake.addClipboard(program)
            if program == "wl-copy" { try fake.addClipboard("wl-paste") }
            if isPicture { try fake.put(Self.picture(), as: "picture") } else { try fake.put((Self.uri + "\n").utf8, as: "text") }
            let environment = fake.environment(wayland: program == "wl-copy", x11: program != "wl-copy")
            let outcome = try await cli.signet("enroll", "--clipboard", environment: environment).succeeds()
            #expect(outcome.output.hasPrefix("Enrolled Harbor: mira\n"))
            #expect(!fake.calls.contains(OATHSample.secretText))
        }
    }

    @Test("An empty clipboard exits with 66, another content with 65, and no program for the clipboard with 69")
    func refusesClipboard() async throws {
        try await withDesktop { cli, fake in
            try await cli.signet("enroll", "--clipboard", environment: fake.environment(x11: true)).fails(
                69, "xclip", "wl-clipboard")
            try fake.addClipboard("xclip")
            try await cli.signet("enroll", "--clipboard", environment: fake.environment(x11: true)).fails(
                66, "neither a picture nor text")
            try fake.put("a shopping list".utf8, as: "text")
            try await cli.signet("enroll", "--clipboard", environment: fake.environment(x11: true)).fails(65)
            try fake.put([0xFF, 0xFE, 0x00, 0x41], as: "text")
            try await cli.signet("enroll", "--clipboard", environment: fake.environment(x11: true)).fails(
                65, "the clipboard", "nor text")
            #expect(try await cli.accounts().isEmpty)
        }
    }

    // MARK: The screen

    /// A program, the script in its place, and the desktop that it is for.
    private static let screens: [(name: String, script: String, wayland: Bool)] = [
        ("grim", #"[ "$*" = "-t png -" ] && exec /bin/cat "${0%/*}/picture""#, true),
        ("import", #"[ "$*" = "-silent -window root png:-" ] && exec /bin/cat "${0%/*}/picture""#, false),
        (
            "scrot",
            #"/bin/cat "${0%/*}/picture" > "$1"; /bin/ls -ld "${1%/*}" "$1" > "${0%/*}/modes"; /bin/echo "$1" > "${0%/*}/calls""#,
            false
        ),
    ]

    @Test("signet enroll --screen takes the QR code that the screen shows, and leaves no picture", arguments: screens)
    func enrollsFromScreen(screen: (name: String, script: String, wayland: Bool)) async throws {
        try await withDesktop { cli, fake in
            try fake.add(screen.name, screen.script)
            try fake.put(Self.picture(), as: "picture")
            var environment = fake.environment(wayland: screen.wayland, x11: !screen.wayland)
            environment["XDG_RUNTIME_DIR"] = cli.directory.path
            let outcome = try await cli.signet("enroll", "--screen", environment: environment).succeeds()
            #expect(outcome.output.hasPrefix("Enrolled Harbor: mira\n"))
            let left = try FileManager.default.contentsOfDirectory(atPath: cli.directory.path)
            #expect(Set(left) == ["vault", "desktop"])
            guard screen.name == "scrot" else { return }
            #expect(fake.calls.hasPrefix("\(cli.directory.path)/signet-screen-"))
            let modes = try String(contentsOfFile: "\(fake.directory)/modes", encoding: .utf8).split(separator: "\n")
            #expect(modes.count == 2)
            let isPrivate = modes.contains { $0.hasPrefix("drwx------") } && modes.contains { $0.hasPrefix("-rw-------") }
            #expect(isPrivate, "\(modes)")
        }
    }

    @Test(
        "The picture of scrot is removed when scrot fails and when a signal ends signet",
        arguments: [nil, SIGTERM, SIGINT] as [Int32?])
    func removesPictureOfScreen(number: Int32?) async throws {
        try await withDesktop { cli, fake in
            let end = number == nil ? "exit 2" : "exec /bin/sleep 30"
            try fake.add("scrot", #"/bin/cat "${0%/*}/picture" > "$1"; : > "${0%/*}/calls"; "# + end)
            try fake.put(Self.picture(), as: "picture")
            var environment = fake.environment(x11: true)
            environment["XDG_RUNTIME_DIR"] = cli.directory.path
            let process = try cli.start(["enroll", "--screen"], environment: environment)
            if let number {
                let hasStarted = try await eventually { FileManager.default.fileExists(atPath: "\(fake.directory)/calls") }
                #expect(hasStarted)
                process.signal(number)
            }
            let outcome = await process.end()
            #expect(outcome.status == (number == nil ? 69 : 130), "\(outcome.errors)")
            let left = try FileManager.default.contentsOfDirectory(atPath: cli.directory.path)
            #expect(Set(left) == ["vault", "desktop"])
        }
    }

    @Test("Without a program for the screen, --screen exits with 69 and names the programs; without a QR code with 65")
    func refusesScreen() async throws {
        try await withDesktop { cli, fake in
            let environment = fake.environment(wayland: true, x11: true)
            try await cli.signet("enroll", "--screen", environment: environment).fails(69, "grim", "scrot")
            try fake.add("grim", #"exec /bin/cat "${0%/*}/picture""#)
            try fake.put(PNGCodec.encode(GrayImage(width: 200, height: 200)), as: "picture")
            try await cli.signet("enroll", "--screen", environment: environment).fails(65, "no QR code")
            try fake.add("grim", "exit 1")
            try await cli.signet("enroll", "--screen", environment: environment).fails(69, "grim ended with 1")
            #expect(try await cli.accounts().isEmpty)
        }
    }

    // MARK: Programs of the desktop

    @Test("A program of the desktop is found only in absolute directories of PATH")
    func findsProgramInPath() throws {
        #expect(DesktopProgram.path(of: "sh", in: ["PATH": "/nonexistent:/bin"]) == "/bin/sh")
        #expect(DesktopProgram.path(of: "sh", in: ["PATH": "bin:.:"]) == nil)
        #expect(DesktopProgram.path(of: "signet-no-such-program", in: [:]) == nil)
    }

    @Test("A program of the desktop gets its input, and its output and exit status are read")
    func runsDesktopProgram() throws {
        let echo = try DesktopProgram.run("/bin/cat", [], input: [1, 0, 255], outputLimit: 100)
        #expect(echo.status == 0 && echo.output == [1, 0, 255])
        let failed = try DesktopProgram.run("/bin/sh", ["-c", "echo lost; exit 7"])
        #expect(failed.status == 7 && failed.output == [])
        let killed = try DesktopProgram.run("/bin/sh", ["-c", "kill -TERM $$"])
        #expect(killed.status == -SIGTERM)
        #expect(throws: Failure.self) { _ = try DesktopProgram.run("/nonexistent/xclip", []) }
        #expect(throws: Failure.self) { _ = try DesktopProgram.run("/bin/sh", ["-c", "echo 123456"], outputLimit: 3) }
    }

    @Test("A process that a program of the desktop leaves in the background is not waited for")
    func leavesBackgroundProcess() throws {
        let start = ContinuousClock.now
        let outcome = try DesktopProgram.run("/bin/sh", ["-c", "cat > /dev/null; sleep 15 &"], input: [1])
        #expect(outcome.status == 0)
        #expect(ContinuousClock.now - start < .seconds(10))
    }

    @Test("A program of the desktop that must end before its time is killed")
    func killsDesktopProgram() throws {
        let start = ContinuousClock.now
        let isOver = { true }
        #expect(throws: Failure.self) { _ = try DesktopProgram.run("/bin/sleep", ["30"], unless: isOver) }
        #expect(ContinuousClock.now - start < .seconds(10))
    }
}
