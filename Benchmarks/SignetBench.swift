import Foundation
import SignetCore

/// `signet-bench`: how fast Signet is beside what it could be, as ratios in one run. `make bench` builds and starts it.
///
///     signet-bench --signet PATH [--output FILE]
///
/// Ends with 1 when a limit does not hold. A row whose reference is not on this machine is skipped with a word.
@main
enum SignetBench {
    static func main() async {
        do {
            let options = try Options(CommandLine.arguments.dropFirst())
            let report = try await Report(date: SystemWallClock().now, rows: rows(signet: options.signet))
            Terminal.out(report.table)
            if let file = options.output { try report.json().write(to: URL(filePath: file)) }
            if !report.holds { exit(1) }
        } catch {
            Terminal.error("signet-bench: \(error)")
            exit(2)
        }
    }

    /// Every row, in the order of the table. The processes come first: a machine is quietest before the rest has warmed it.
    private static func rows(signet: String) async throws -> [Row] {
        try await ProcessRows.measure(signet: signet) + CodeRows.measure() + MessageRows.measure() + [ApprovalRow.measure()]
    }
}

/// What the command line asks for.
private struct Options {
    /// The `signet` to measure: a release build, stripped.
    var signet = ""
    /// Where the JSON goes; nowhere when there is none.
    var output: String?

    init(_ arguments: some Sequence<String>) throws {
        var rest = arguments.makeIterator()
        while let option = rest.next() {
            switch (option, rest.next()) {
            case ("--signet", let path?): signet = path
            case ("--output", let path?): output = path
            default: throw BenchError("usage: signet-bench --signet PATH [--output FILE]")
            }
        }
        guard !signet.isEmpty else { throw BenchError("--signet PATH is missing: the program to measure") }
    }
}

/// Why there is no measurement, in words.
struct BenchError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// What a person reads.
enum Terminal {
    static func out(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }
    static func error(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }
}
