#if os(Linux)
/// `python3`, whose SQLite is another one than that of the library under test.
package enum Python {
    /// Whether it is here, with its sqlite3 module.
    package static var hasSQLite: Bool {
        get async { (try? await run("import sqlite3")) != nil }
    }

    /// Runs a program to its end.
    /// - Throws: ``CannotStart`` when it does not end with 0.
    package static func run(_ program: String, _ arguments: String...) async throws(CannotStart) {
        let ended = try await TestProcess.run("python3", ["-c", program] + arguments)
        guard ended.status == 0 else { throw CannotStart(reason: "python3 ended with \(ended.status): \(ended.errors)") }
    }
}
#endif
