#if os(Linux)
import Foundation

/// Authlib, joserfc, oauthlib and mod_auth_openidc, clients that know nothing of this project.
///
/// `Tests/RealClients` has their scenarios in Python. `scripts/setup test` installs the Python packages in a separate virtual
/// environment, and the module with the web server from the packages of the system.
package enum RealClients {
    private static var python: String { Programs.installed("clients/bin/python3") }

    private static let scenarios = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "RealClients/run.py").path(percentEncoded: false)

    /// A Boolean value that indicates whether the Python packages are installed.
    package static var havePython: Bool { FileManager.default.isExecutableFile(atPath: python) }

    /// A Boolean value that indicates whether the Python packages and the web server with its module are installed.
    package static var haveApache: Bool {
        havePython && Programs.missing(["apache2"]).isEmpty
            && FileManager.default.fileExists(atPath: "/usr/lib/apache2/modules/mod_auth_openidc.so")
    }

    /// True when all scenarios run, and not only a sample.
    package static var runAll: Bool { ProcessInfo.processInfo.environment["SIGNET_CLIENTS"] == "all" }

    /// Returns the names of all scenarios in `Tests/RealClients`.
    /// - Returns: The names, in the order in which they are defined.
    /// - Throws: ``CannotStart`` when the program cannot be started, or fails.
    package static func names() async throws(CannotStart) -> [String] {
        let ended = try await TestProcess.run(python, ["-B", scenarios, "--list"])
        guard ended.status == 0 else { throw CannotStart(reason: ended.errors) }
        return ended.output.split(separator: "\n").map { String($0) }
    }

    /// Runs a scenario against a `signet serve` of its own.
    /// - Parameter name: The name of the scenario.
    /// - Returns: The outcome. The status is 0 when the scenario has passed.
    /// - Throws: ``CannotStart``.
    package static func run(_ name: String) async throws(CannotStart) -> TestProcess.Outcome {
        try await TestProcess.run(python, ["-B", scenarios, "--signet", Programs.built("signet"), name])
    }
}
#endif
