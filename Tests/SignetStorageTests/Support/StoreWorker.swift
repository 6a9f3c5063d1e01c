import Foundation
import TestSupport
import Testing

/// `StoreWorker` as a process, under strace or not.
enum StoreWorker {
    /// One system call of the work, as strace counts them: the nth of its name.
    struct SystemCall: Sendable, Hashable, CustomStringConvertible {
        let name: String
        let number: Int
        var description: String { "\(name) \(number)" }
    }

    static let noTrace: Comment = "strace cannot trace here (scripts/setup)"

    static var canBeTraced: Bool {
        get async {
            let traced = try? await TestProcess.run("strace", ["-f", "-e", "trace=write", "-o", "/dev/null", "true"])
            return traced?.status == 0
        }
    }

    /// Runs the worker to its end.
    static func run(_ arguments: [String]) async throws -> TestProcess.Outcome {
        try await run(Programs.built("StoreWorker"), arguments)
    }

    /// Runs the worker with an event at a system call: `signal=KILL` before it, or `error=ENOSPC` in its place.
    static func run(_ arguments: [String], at call: SystemCall, _ event: String) async throws -> TestProcess.Outcome {
        let inject = ["-e", "trace=\(call.name)", "-e", "inject=\(call.name):\(event):when=\(call.number)"]
        return try await run("strace", ["-f", "-o", "/dev/null"] + inject + [Programs.built("StoreWorker")] + arguments)
    }

    /// The system calls between the worker's marks, in order; only those of its main thread, which does the work.
    static func systemCalls(of arguments: [String], log: String) async throws -> [SystemCall] {
        let outcome = try await run("strace", ["-f", "-o", log, Programs.built("StoreWorker")] + arguments)
        try #require(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
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

    private static func run(_ program: String, _ arguments: [String]) async throws -> TestProcess.Outcome {
        let environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        return try await TestProcess.run(program, arguments, environment: environment)
    }
}

extension TestProcess.Outcome {
    var wasKilled: Bool { status == -SIGKILL }
}
