import Foundation
import SignetCore

/// Runs a program for the demo: `signet` or `oathtool`.
enum ChildProcess {
    /// The exit status and the output of a program.
    struct Result {
        let status: Int32
        let output: String
        let errors: String
    }

    /// Runs a program to its end.
    ///
    /// Cancellation of the task terminates the program.
    static func run(
        _ path: String, _ arguments: [String], environment: [String: String], input: String = ""
    ) async throws -> Result {
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.environment = environment
        let pipes = (input: Pipe(), output: Pipe(), errors: Pipe())
        process.standardInput = pipes.input
        process.standardOutput = pipes.output
        process.standardError = pipes.errors
        let ended = AsyncStream<Void>.makeStream()
        process.terminationHandler = { _ in ended.continuation.finish() }
        try process.run()
        try pipes.input.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try pipes.input.fileHandleForWriting.close()
        let identifier = process.processIdentifier
        return try await withTaskCancellationHandler {
            async let output = text(of: pipes.output)
            async let errors = text(of: pipes.errors)
            let texts = await (output, errors)
            for await _ in ended.stream {}
            try Task.checkCancellation()
            return Result(status: process.terminationStatus, output: texts.0, errors: texts.1)
        } onCancel: {
            kill(identifier, SIGTERM)
        }
    }

    /// Reads a pipe until the program closes it, on a thread that may block.
    ///
    /// Returns the text without the trailing line ending.
    private static func text(of pipe: Pipe) async -> String {
        let handle = pipe.fileHandleForReading
        let bytes = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(returning: (try? handle.readToEnd()) ?? Data())
            }
        }
        return String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .newlines)
    }
}

/// A program that runs in the background until it is stopped, and writes one line when it is ready.
final class BackgroundProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    /// Starts the program.
    init(_ path: String, _ arguments: [String], environment: [String: String]) throws {
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.environment = environment
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    var identifier: Int32 { process.processIdentifier }

    /// Returns the first line that the program writes, or nil if it ends without one.
    func firstLine() async -> String? {
        let handle = output.fileHandleForReading
        return await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                var line = Data()
                while let byte = try? handle.read(upToCount: 1), !byte.isEmpty, byte != Data("\n".utf8) { line += byte }
                continuation.resume(returning: line.isEmpty ? nil : String(decoding: line, as: UTF8.self))
            }
        }
    }

    /// Terminates the program, and kills it if it hasn't ended after 5 seconds.
    ///
    /// Returns its exit status.
    @discardableResult
    func stop() -> Int32 {
        if process.isRunning { process.terminate() }
        let timeout = DispatchWorkItem { [identifier] in kill(identifier, SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + 5, execute: timeout)
        process.waitUntilExit()
        timeout.cancel()
        return process.terminationStatus
    }
}
