#if os(Linux)
import Foundation
import SignetCore
import SignetTesting

/// A real notification server for one test: dunst, on a screen in memory.
///
/// It ends with the body for which it was started, even when the body throws, and with the test process.
package final class NotificationDaemon: Sendable {
    private let environment: [String: String]
    private let directory: TemporaryDirectory
    private let screen: TestProcess
    private let daemon: Mutex<TestProcess>

    /// An error that reports that a program does not start.
    package struct Failure: Error, CustomStringConvertible {
        /// The output of the program.
        package let description: String
    }

    /// The required programs that are not in `PATH`.
    ///
    /// In Debian they are in the packages `dunst`, `xvfb`, `dbus-bin` and `dbus-daemon`.
    package static var missingPrograms: [String] {
        Programs.missing(["Xvfb", "dunst", "dunstctl", "dbus-send", "grep"]) + MessageBus.missingPrograms
    }

    /// Runs `body` with dunst on a bus.
    /// - Parameters:
    ///   - bus: The session bus.
    ///   - body: The code that uses the notifications.
    /// - Returns: The value that `body` returns.
    /// - Throws: ``Failure``, or the error of `body`.
    package static func with<R>(_ bus: MessageBus, _ body: (NotificationDaemon) async throws -> R) async throws -> R {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let notifications = try await NotificationDaemon(bus, in: directory)
        do {
            let result = try await body(notifications)
            await notifications.stop()
            return result
        } catch {
            await notifications.stop()
            throw error
        }
    }

    private init(_ bus: MessageBus, in directory: TemporaryDirectory) async throws {
        self.directory = directory
        let searchPath = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        screen = try TestProcess.kept(
            "Xvfb", ["-displayfd", "1", "-screen", "0", "800x600x24", "-nolisten", "tcp"],
            environment: ["PATH": searchPath, "HOME": directory.path])
        do {
            // The X server prints its number when it accepts connections.
            let display = try await screen.waitForOutput { output, _ in output.hasSuffix("\n") }.line
            environment = [
                "PATH": searchPath, "HOME": directory.path, "DISPLAY": ":\(display)", "LC_ALL": "C.UTF-8",
                "DBUS_SESSION_BUS_ADDRESS": bus.address, "XDG_RUNTIME_DIR": directory.path, "XDG_CONFIG_HOME": directory.path,
            ]
            // dunst lets the user choose a button with a program that gets a line for each, and prints the chosen one.
            let menu = directory.file("menu")
            try Data("#!/bin/sh\ngrep --max-count=1 \"$(cat \"$0.choice\")\"\n".utf8).write(to: URL(filePath: menu))
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: menu)
            let settings = "[global]\n    dmenu = \(menu)\n    monitor = 0\n"
            try Data(settings.utf8).write(to: URL(filePath: directory.file("dunstrc")))
            daemon = Mutex(try Self.start(directory, environment))
        } catch let error as TestProcess.OutputTimeout {
            throw Failure(description: "Xvfb does not start: \(error.soFar.errors)")
        }
        guard try await eventually({ try await shownCount != nil }) else {
            throw Failure(description: "dunst does not start: \(daemon.withLock { $0.soFar.errors })")
        }
    }

    private static func start(_ directory: TemporaryDirectory, _ environment: [String: String]) throws -> TestProcess {
        // With -print it writes each notification to its output.
        try TestProcess.kept("dunst", ["-conf", directory.file("dunstrc"), "-print"], environment: environment)
    }

    /// The number of notifications on the screen; nil while dunst does not answer.
    package var shownCount: Int? {
        get async throws { Int(try await control("count", "displayed")) }
    }

    /// The text that dunst has printed about its notifications since it started.
    package var output: String { daemon.withLock { $0.soFar.output } }

    /// Chooses the button with a label, as a user does in the menu of dunst.
    package func choose(_ label: String) async throws {
        try Data("^#\(label) ".utf8).write(to: URL(filePath: directory.file("menu.choice")))
        _ = try await control("context")
    }

    /// Ends dunst and starts another one, with no memory of what was shown.
    package func restart() async throws {
        await daemon.withLock { $0 }.stop()
        let next = try Self.start(directory, environment)
        daemon.withLock { $0 = next }
    }

    private func control(_ arguments: String...) async throws -> String {
        try await TestProcess.run("dunstctl", arguments, environment: environment).line
    }

    private func stop() async {
        await daemon.withLock { $0 }.stop()
        await screen.stop()
    }
}
#endif
