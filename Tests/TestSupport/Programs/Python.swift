#if os(Linux)
/// The system's `python3`.
///
/// Its SQLite library isn't the one that the library under test uses.
package enum Python {
    /// A Boolean value that indicates whether `python3` is installed with its sqlite3 module.
    package static var hasSQLite: Bool {
        get async { (try? await run("import sqlite3")) != nil }
    }

    /// Runs a Python program to its end.
    /// - Throws: ``CannotStart`` when it cannot be started or does not exit with 0.
    package static func run(_ program: String, _ arguments: String...) async throws(CannotStart) {
        let ended = try await TestProcess.run("python3", ["-c", program] + arguments)
        guard ended.status == 0 else { throw CannotStart(reason: "python3 ended with \(ended.status): \(ended.errors)") }
    }
}
#endif
