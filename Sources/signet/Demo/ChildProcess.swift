import Dispatch
import Foundation
import Synchronization

/// A program that the demo starts: this one, or `oathtool`.
enum ChildProcess {
    /// What a program said, and how it ended.
    struct Result {
        let status: Int32
        let output: String
        let errors: String
    }

    /// Runs a program to its end. It is stopped when the task is cancelled.
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

    /// What a program writes to a pipe, until it closes it; without the line end. Read on a thread that may block.
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

/// A program that runs in the background until it is stopped, and says when it is ready by writing one line.
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

    /// The first line that the program writes; nil when it ends without one.
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

    /// Asks the program to stop, and makes it stop if it has not after some seconds. Returns how it ended.
    @discardableResult
    func stop() -> Int32 {
        if process.isRunning { process.terminate() }
        let patience = DispatchWorkItem { [identifier] in kill(identifier, SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + 5, execute: patience)
        process.waitUntilExit()
        patience.cancel()
        return process.terminationStatus
    }
}
