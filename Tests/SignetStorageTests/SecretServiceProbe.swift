import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

/// `SecretServiceProbe` as a process; its executable is beside the test bundle.
enum SecretServiceProbe {
    /// Runs it, and returns its one line.
    static func run(
        _ arguments: [String], environment: [String: String], through wrapper: [String] = [],
        within timeout: Duration = TestTimeout.default, location: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let words = wrapper + [Programs.built("SecretServiceProbe")] + arguments
        let own = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "", "SWIFT_BACKTRACE": "enable=no"]
        let ended = try await TestProcess.run(
            words[0], Array(words.dropFirst()), environment: own.merging(environment) { $1 }, within: timeout)
        #expect(ended.status == 0, "it ended badly: \(ended.errors)", sourceLocation: location)
        #expect(ended.errors == "", "a library spoke to the terminal", sourceLocation: location)
        return ended.line
    }
}

extension Keyring {
    /// Runs the probe with this keyring.
    func probe(
        _ arguments: String..., timeout: Int = 10_000, unlock: Int? = nil, location: SourceLocation = #_sourceLocation
    ) async throws -> String {
        try await SecretServiceProbe.run(
            ["\(timeout)", unlock.map(String.init) ?? "-"] + arguments, environment: environment, location: location)
    }

    /// Returns the value after `ok` in the probe's answer.
    func value(_ arguments: String..., location: SourceLocation = #_sourceLocation) async throws -> String {
        let answer = try await SecretServiceProbe.run(
            ["10000", "-"] + arguments, environment: environment, location: location)
        try #require(answer.hasPrefix("ok "), "\(answer)", sourceLocation: location)
        return String(answer.dropFirst(3))
    }

    /// Expects the probe to answer `ok` and this value.
    func expect(_ arguments: String..., gives expected: String, location: SourceLocation = #_sourceLocation) async throws {
        let answer = try await SecretServiceProbe.run(
            ["10000", "-"] + arguments, environment: environment, location: location)
        #expect(answer == "ok \(expected)", sourceLocation: location)
    }
}
