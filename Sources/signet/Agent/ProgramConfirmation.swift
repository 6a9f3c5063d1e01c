import Foundation
import SignetCore

/// Asks the user for each use of the vault by a program of the user's choice, such as `ssh-askpass` or
/// `zenity --question --no-markup`.
///
/// The program gets the question as its last argument. The use is allowed when it ends with status 0.
struct ProgramConfirmation: Sendable {
    /// The time that the user has to answer.
    private static let timeout = Duration.seconds(60)

    /// The program with its arguments.
    let command: [String]

    /// - Throws: ``Failure`` for a command without a program.
    init(_ command: String) throws {
        self.command = command.split(separator: " ").map(String.init)
        guard !self.command.isEmpty else { throw Failure(.usage, "usage", "--confirm-with names no program") }
    }

    /// Asks for a use.
    /// - Parameter question: The question, such as `Allow a command to use the code of 'Harbor Bank: mira'?`.
    /// - Throws: ``Failure`` when the user does not allow it, and when the program cannot be run.
    func confirm(_ question: TerminalText) async throws {
        let (command, question) = (command, question.description)
        let program = Task {
            try await ChildProcess.run(
                "/usr/bin/env", command + [question], environment: ProcessInfo.processInfo.environment)
        }
        let timeout = Task {
            try await Task.sleep(for: Self.timeout)
            program.cancel()
        }
        defer { timeout.cancel() }
        let ended: ChildProcess.Result
        do {
            ended = try await program.value
        } catch is CancellationError {
            throw Failure(.notAllowed, "agent.refused", "this use of the vault was not allowed in time")
        } catch {
            throw Failure(.unavailable, "agent.confirmation", "the program that asks for each use cannot be run")
        }
        guard ended.status == 0 else {
            throw Failure(.notAllowed, "agent.refused", "the agent asked, and this use of the vault was not allowed")
        }
    }
}
