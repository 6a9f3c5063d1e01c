import Foundation
import SignetCore
import SignetTesting
import Testing

@testable import signet

@Suite("signet accounts remove", .enabled(if: Programs.missing(["script"]).isEmpty, "script(1) is not installed"))
struct AccountsRemoveTests {
    private func withAccount(_ body: (Workplace) async throws -> Void) async throws {
        try await Workplace.with { place in
            try await place.signet("enroll", "otpauth://totp/Bank:mira?secret=JBSWY3DPEHPK3PXP").succeeds()
            try await body(place)
        }
    }

    /// `signet` at a terminal of its own.
    private func atTerminal(_ place: Workplace, _ arguments: [String]) throws -> TestProcess {
        let command = ([Program.path] + arguments).map { "'\($0)'" }.joined(separator: " ")
        return try place.start(["-qec", command, "/dev/null"], program: "script", input: .open)
    }

    @Test("Without a terminal and without --yes it refuses with 77 and removes nothing")
    func withoutTerminal() async throws {
        try await withAccount { place in
            let outcome = try await place.signet("accounts", "remove", "mira")
            outcome.fails(77, "Bank: mira", "can't be undone", "--yes")
            #expect(try await place.accounts().count == 1)
        }
    }

    @Test("With --yes it says what was removed", arguments: [false, true])
    func withYes(json: Bool) async throws {
        try await withAccount { place in
            let outcome = try await place.start(["accounts", "remove", "mira", "--yes"] + (json ? ["--json"] : [])).end()
            try outcome.succeeds()
            if json {
                #expect(outcome.json["account"]?.string == "mira" && outcome.json["issuer"]?.string == "Bank")
            } else {
                #expect(outcome.line == "Removed Bank: mira  [totp]")
            }
            #expect(try await place.accounts().isEmpty)
            try await place.signet("accounts", "remove", "mira", "--yes").fails(66, "mira")
        }
    }

    @Test("At a terminal it asks, and only 'yes' removes", arguments: [("yes", 0 as Int32, 0), ("y", 77, 1), ("", 77, 1)])
    func atTerminal(answer: String, exit: Int32, left: Int) async throws {
        try await withAccount { place in
            let process = try atTerminal(place, ["accounts", "remove", "mira"])
            try await process.said { output, _ in output.contains("Type 'yes' to remove it:") }
            #expect(process.soFar.output.contains("This removes Bank: mira  [totp] with its codes and push messages."))
            process.type("\(answer)\n")
            #expect(await process.end().status == exit)
            #expect(try await place.accounts().count == left)
        }
    }

    @Test("Ctrl-C and Ctrl-D at the question end it with 130 and remove nothing", arguments: ["\u{3}", "\u{4}"])
    func cancelled(key: String) async throws {
        try await withAccount { place in
            let process = try atTerminal(place, ["accounts", "remove", "mira"])
            try await process.said { output, _ in output.contains("Type 'yes' to remove it:") }
            process.type(key)
            #expect(await process.end().status == 130)
            #expect(try await place.accounts().count == 1)
        }
    }
}
