#if os(Linux)
import Foundation
import TestSupport
import Testing

import struct SignetTesting.TemporaryDirectory

/// A machine with an empty home directory, on which an app of `Examples` runs.
struct Machine {
    var app: String
    let home: TemporaryDirectory
    /// The folder with the app; nil for that of the build.
    var folder: String?
    /// No TPM and no keyring, wherever the test runs.
    var hardware = ["SIGNET_TCTI": "device:/nonexistent", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent"]

    /// Runs `body` with an app on a new machine.
    static func with(_ app: String, _ body: (Machine) async throws -> Void) async throws {
        try await TemporaryDirectory.with { home in try await body(Machine(app: app, home: home)) }
    }

    /// Runs a sample of the app, and returns the line that it prints.
    func run(_ sample: String...) async throws -> String { try await outcome(sample).line }

    /// Starts a sample of the app, with a standard input that stays open until the caller closes it.
    func start(_ sample: String...) throws -> TestProcess { try process(sample, input: .open) }

    private func outcome(_ sample: [String]) async throws -> TestProcess.Outcome {
        try await process(sample, input: .nothing).end()
    }

    private func process(_ sample: [String], input: TestProcess.Input) throws -> TestProcess {
        var own = [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "", "SWIFT_BACKTRACE": "enable=no", "HOME": home.path,
            "XDG_DATA_HOME": home.file("data"), "XDG_CONFIG_HOME": home.file("config"), "XDG_STATE_HOME": home.file("state"),
            "XDG_CACHE_HOME": home.file("cache"),
        ]
        // The address sanitizer would report memory of work that goes on when the app ends.
        own["ASAN_OPTIONS"] = ProcessInfo.processInfo.environment["ASAN_OPTIONS"]
        let program = folder.map { "\($0)/\(app)" } ?? Programs.built(app)
        return try TestProcess(program, sample, environment: hardware.merging(own) { $1 }, input: input)
    }

    /// Runs a sample of the app, and expects it to print this line.
    func expect(_ sample: String..., gives line: String, location: SourceLocation = #_sourceLocation) async throws {
        let ended = try await outcome(sample)
        #expect(ended.line == line, "\(ended.errors)", sourceLocation: location)
    }

    /// Returns this machine with the app in a folder of its own, beside which it looks for its files.
    func installed() throws -> Machine {
        var machine = self
        let folder = home.file("app")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: "\(folder)/\(app)", withDestinationPath: Programs.built(app))
        machine.folder = folder
        return machine
    }

    var isEmpty: Bool { (try? FileManager.default.contentsOfDirectory(atPath: home.path)) == [] }
    var hasVault: Bool { FileManager.default.fileExists(atPath: home.file("data/signet")) }
}
#endif
