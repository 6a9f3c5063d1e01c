import Foundation
import Synchronization

/// A process that a test starts, and ends if it does not end by itself. What it writes goes to files, so that nobody has to
/// read along and no child of its can hold a pipe open.
package final class SpawnedProcess: Sendable {
    /// The system's number for it.
    package let identifier: Int32
    private let state: Mutex<State>

    private struct State {
        let process: Process
        var input: FileHandle?
    }

    /// It could not be started.
    package struct CannotStart: Error {
        package let program: String
    }

    /// Starts `program`, which is looked up in `PATH`. Its standard input has nothing to give and stays open until
    /// ``closeInput()``, or until this process ends.
    /// - Parameter directory: Where its files go: `NAME.output` and `NAME.errors`.
    package init(
        _ program: String, _ arguments: [String], environment: [String: String], name: String, in directory: String
    ) throws {
        func file(_ suffix: String) throws -> FileHandle {
            let path = "\(directory)/\(name).\(suffix)"
            guard FileManager.default.createFile(atPath: path, contents: nil), let file = FileHandle(forWritingAtPath: path)
            else {
                throw CannotStart(program: program)
            }
            return file
        }
        // Not a pipe: what another test starts at this moment could inherit its other end.
        let fifo = "\(directory)/\(name).input"
        unlink(fifo)
        let writer = mkfifo(fifo, 0o600) == 0 ? open(fifo, O_RDWR | O_CLOEXEC) : -1
        let reader = writer >= 0 ? open(fifo, O_RDONLY | O_CLOEXEC) : -1
        guard reader >= 0 else { throw CannotStart(program: program) }
        let input = FileHandle(fileDescriptor: writer, closeOnDealloc: true)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [program] + arguments
        process.environment = environment
        process.standardInput = FileHandle(fileDescriptor: reader, closeOnDealloc: true)
        process.standardOutput = try file("output")
        process.standardError = try file("errors")
        // A thread of Dispatch's lets no signal through, and would hand that down.
        var none = sigset_t()
        var present = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &present)
        defer { pthread_sigmask(SIG_SETMASK, &present, nil) }
        try process.run()
        identifier = process.processIdentifier
        state = Mutex(State(process: process, input: input))
    }

    /// Ends its standard input.
    package func closeInput() {
        state.withLock { state in
            try? state.input?.close()
            state.input = nil
        }
    }

    /// How it ended: the exit code, or the negated number of the signal; nil while it runs.
    package var status: Int32? {
        state.withLock { state in
            if state.process.isRunning { return nil }
            let status = state.process.terminationStatus
            return state.process.terminationReason == .uncaughtSignal ? -status : status
        }
    }

    /// Waits until it ends, which it is made to when it takes too long.
    package func end(within patience: Duration) async -> Int32 {
        let deadline = ContinuousClock.now + patience
        while true {
            if let status { return status }
            if ContinuousClock.now > deadline { kill(identifier, SIGKILL) }
            // Who is cancelled still has to see the end.
            if (try? await Task.sleep(for: .milliseconds(5))) == nil { usleep(5000) }
        }
    }

    /// Runs `program` to its end.
    /// - Returns: how it ended, and what it wrote.
    package static func run(
        _ program: String, _ arguments: [String], environment: [String: String], within patience: Duration
    ) async throws -> (status: Int32, output: String, errors: String) {
        try await TemporaryDirectory.with { directory in
            let process = try SpawnedProcess(
                program, arguments, environment: environment, name: "process", in: directory.path)
            process.closeInput()
            let status = await process.end(within: patience)
            return (status, try directory.text("process.output"), try directory.text("process.errors"))
        }
    }
}

extension TemporaryDirectory {
    /// What a file in it holds.
    package func text(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: file(name))), as: UTF8.self)
    }
}
