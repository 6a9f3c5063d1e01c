import Foundation
import SignetCore

/// `signet-bench`: how fast Signet is beside what it could be, as ratios in one run.
///
/// `make bench` builds and starts it.
///
///     signet-bench --signet PATH [--output FILE] [--only process|peers|agent|code|message|approval|login|accounts|store|items|vault|hardware|verifier|server|server-state]
///
/// Ends with 1 when a limit does not hold. A row whose reference is not on this machine is skipped with a word.
@main
enum SignetBench {
    static func main() async {
        do {
            // This program again, as the process that a row measures.
            if CommandLine.arguments.count == 3, CommandLine.arguments[1] == StoreRows.listingOption {
                return try StoreRows.list(CommandLine.arguments[2])
            }
            if CommandLine.arguments.count == 3, CommandLine.arguments[1] == BareHTTPServer.option {
                return try await BareHTTPServer.run(CommandLine.arguments[2])
            }
            let options = try Options(CommandLine.arguments.dropFirst())
            let report = try await Report(date: SystemWallClock().now, rows: rows(options))
            Terminal.out(report.table)
            if let file = options.output { try report.json().write(to: URL(filePath: file)) }
            if !report.holds { exit(1) }
        } catch {
            Terminal.error("signet-bench: \(error)")
            exit(2)
        }
    }

    /// The rows, in the order of the table.
    ///
    /// The processes come first: a machine is quietest before the rest has warmed it.
    ///
    /// Concurrent, to be off the main actor: otherwise every call that waits would come back through the main queue, and the
    /// way there would be measured too.
    @concurrent
    private static func rows(_ options: Options) async throws -> [Row] {
        var rows: [Row] = []
        for group in options.groups {
            rows += try await group.measure(options)
        }
        return rows
    }
}

/// The rows that belong together.
private enum Group: String, CaseIterable {
    case process, peers, agent, code, message, approval, login, accounts, store, items, vault, hardware, verifier, server
    case serverState = "server-state"

    func measure(_ options: Options) async throws -> [Row] {
        switch self {
        case .process: try await ProcessRows.measure(signet: options.signet)
        case .peers: try await PeerRows.measure(signet: options.signet)
        case .agent:
            try await AgentRows.measure(signet: options.signet) + [AgentLoadRow.measure(signet: options.signet)]
                + AgentPushRows.measure(signet: options.signet)
        case .code: try await CodeRows.measure()
        case .message: try await MessageRows.measure()
        case .approval: try await ApprovalRow.measure() + RushRows.measure()
        case .login: try await [LoginRow.measure(), StepRow.measure()] + TokenRows.measure() + ProofRows.measure()
        case .accounts: try await AccountRows.measure() + SizeRows.measure(signet: options.signet)
        case .items: try await ItemRows.measure()
        case .vault: try await VaultRows.measure() + [HeartbeatRow.measure()]
        case .store: try await StoreRows.measure()
        case .hardware: try await TPMRows.measure()
        case .verifier: try await VerifierRows.measure()
        case .server: try await ServerRows.measure(signet: options.signet)
        case .serverState: [try await ServerStateRow.measure()]
        }
    }
}

/// The options of the command line.
private struct Options: Sendable {
    /// The `signet` to measure: a release build, stripped.
    var signet = ""
    /// The file for the JSON; nil for no JSON.
    var output: String?
    /// The groups to measure.
    var groups = Group.allCases

    private static let usage =
        "usage: signet-bench --signet PATH [--output FILE] [--only process|peers|agent|code|message|approval|login|accounts|store|items|vault|hardware|verifier|server|server-state]"

    init(_ arguments: some Sequence<String>) throws {
        var rest = arguments.makeIterator()
        while let option = rest.next() {
            switch (option, rest.next()) {
            case ("--signet", let path?): signet = path
            case ("--output", let path?): output = path
            case ("--only", let name?): groups = Group(rawValue: name).map { [$0] } ?? []
            default: throw BenchError(Self.usage)
            }
        }
        guard !signet.isEmpty, !groups.isEmpty else { throw BenchError(Self.usage) }
    }
}

/// The reason for a missing measurement, in words.
struct BenchError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// The output at the terminal.
enum Terminal {
    static func out(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }
    static func error(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }
}
