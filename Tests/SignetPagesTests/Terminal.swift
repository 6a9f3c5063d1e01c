import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

/// A terminal with its own vault in which `signet` runs.
struct Terminal: Sendable {
    private let environment: [String: String]
    private let directory: TemporaryDirectory

    static func with<R>(_ body: (Terminal) async throws -> R) async throws -> R {
        try await TemporaryDirectory.with { directory in
            let terminal = Terminal(directory)
            try await terminal.signet("init", "--protect", "keyfile")
            return try await body(terminal)
        }
    }

    private init(_ directory: TemporaryDirectory) {
        self.directory = directory
        let home = ["SIGNET_HOME": directory.file("vault"), "HOME": directory.path]
        environment = ProcessInfo.processInfo.environment.merging(home) { $1 }
    }

    /// Runs a command, which must succeed, and returns its output.
    @discardableResult
    func signet(_ arguments: String...) async throws -> String {
        let outcome = try await run(arguments)
        try #require(outcome.status == 0, "\(arguments): \(outcome.errors)")
        return outcome.output
    }

    /// Runs a command and returns its exit status.
    func status(of arguments: String...) async throws -> Int32 { try await run(arguments).status }

    private func run(_ arguments: [String]) async throws -> TestProcess.Outcome {
        try await TestProcess.run(Programs.built("signet"), arguments, environment: environment)
    }

    /// Reads the QR code from a screenshot of the page and registers with it.
    func enroll(from page: ChromiumPage) async throws {
        let file = directory.file("page.png")
        try Data(try await page.picture()).write(to: URL(filePath: file))
        try await signet("enroll", file)
    }

    /// Waits for a message, as long as a push login waits for its answer, and returns its id.
    func nextMessage() async throws -> String {
        let message = try await signet("push", "listen", "--once", "--json", "--timeout", "110")
        return try #require(try JSON.value(of: message.utf8)["id"]?.string)
    }
}
