import Foundation
import SignetCore
import SignetTesting

/// Logins at `signet serve` with the traces of logins, beside logins at one without them, in turns.
enum TraceRow {
    static func measure(signet: String) async throws -> Row {
        try await TemporaryDirectory.with { directory in
            let with = try server(signet, traces: 500, directory)
            let without = try server(signet, traces: 0, directory)
            let row = try await LoadClient.with { client in
                try await compare(
                    DevServerLogin(server: with, client: client), DevServerLogin(server: without, client: client))
            }
            try with.stop()
            try without.stop()
            return row
        }
    }

    private static func server(_ signet: String, traces: Int, _ directory: TemporaryDirectory) throws -> MeasuredServer {
        let path = directory.file("traces-\(traces).yaml")
        let text = """
            server: {loginTraces: \(traces)}
            users: [{name: demo}]
            clients: [{id: app, redirectURIs: ["http://127.0.0.1/callback"]}]

            """
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return try MeasuredServer(signet, ["--config", path])
    }

    private static func compare(_ with: DevServerLogin, _ without: DevServerLogin) async throws -> Row {
        var times = (with: [Double](), without: [Double]())
        for round in 0..<12 {
            let (first, second) = (try await Load.throughput(with), try await Load.throughput(without))
            // The first rounds warm up both.
            guard round >= 3 else { continue }
            times.with.append(first)
            times.without.append(second)
        }
        let outcome = Race.Outcome(
            ratio: zip(times.with, times.without).map { $0 / $1 }.median,
            ours: Row.Figure(name: "with traces", value: 1e6 / times.with.median, unit: "/s"),
            reference: Row.Figure(name: "without", value: 1e6 / times.without.median, unit: "/s"),
            disturbance: times.without.median / (times.without.min() ?? .nan))
        return Row("logins with their traces, beside logins without", outcome, .atMost(1.05))
    }
}
