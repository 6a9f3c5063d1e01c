import Foundation
import Testing

/// `StoreWorker`, which the build puts beside the test bundle, under strace or not.
struct TracedProcess {
    /// How it ended.
    struct Outcome {
        let wasKilled: Bool
        let status: Int32
        let output: String
    }

    /// One system call of the work, as strace counts them: the nth of its name.
    struct SystemCall: Sendable, Hashable, CustomStringConvertible {
        let name: String
        let number: Int
        var description: String { "\(name) \(number)" }
    }

    static let strace = "/usr/bin/strace"
    static let reason: Comment = "strace cannot trace here (scripts/setup)"

    static var isPossible: Bool {
        FileManager.default.isExecutableFile(atPath: strace)
            && (try? run([strace, "-f", "-e", "trace=write", "-o", "/dev/null", "/bin/true"]))?.status == 0
    }

    static let worker: String = {
        var folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        for start in ["/proc/self/exe"] + CommandLine.arguments {
            folder = URL(filePath: start).resolvingSymlinksInPath().deletingLastPathComponent()
            while folder.path != "/" {
                let path = folder.appending(path: "StoreWorker").path
                if FileManager.default.isExecutableFile(atPath: path) { return path }
                folder.deleteLastPathComponent()
            }
        }
        return "StoreWorker"
    }()

    /// Runs the worker to its end.
    static func work(_ arguments: [String]) throws -> Outcome {
        try run([worker] + arguments)
    }

    /// The system calls between the worker's marks, in order, those of its main thread: it is this thread that works.
    static func systemCalls(of arguments: [String], log: String) throws -> [SystemCall] {
        let outcome = try run([strace, "-f", "-o", log, worker] + arguments)
        try #require(outcome.status == 0, "\(outcome.output)")
        var counts: [String: Int] = [:]
        var calls: [SystemCall] = []
        var isWorking = false
        let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        let main = lines.first?.prefix { $0.isNumber } ?? ""
        for line in lines where line.hasPrefix(main + " ") {
            guard let match = line.firstMatch(of: /^\d+ +([a-z0-9_]+)\(/) else { continue }
            let name = String(match.1)
            counts[name, default: 0] += 1
            if isWorking { calls.append(SystemCall(name: name, number: counts[name, default: 0])) }
            if line.contains("/signet-work-begins") { isWorking = true }
            if line.contains("/signet-work-ends") { isWorking = false }
        }
        try #require(!calls.isEmpty, "the trace has no marks")
        return calls
    }

    /// Runs the worker, and has something happen at a system call: `signal=KILL` before it, or `error=ENOSPC` in its place.
    static func work(_ arguments: [String], at call: SystemCall, _ event: String) throws -> Outcome {
        try run(
            [
                strace, "-f", "-o", "/dev/null", "-e", "trace=\(call.name)", "-e",
                "inject=\(call.name):\(event):when=\(call.number)", worker,
            ] + arguments)
    }

    static func run(_ command: [String]) throws -> Outcome {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: command[0])
        process.arguments = Array(command.dropFirst())
        process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let wasKilled = process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGKILL
        return Outcome(
            wasKilled: wasKilled, status: process.terminationStatus,
            output: String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
    }
}
