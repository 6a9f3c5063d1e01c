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
                let outcome = try await Load.compare(
                    ("with traces", DevServerLogin(server: LoadedServer(with, client))),
                    ("without", DevServerLogin(server: LoadedServer(without, client))), rounds: 9)
                return Row("logins with their traces, beside logins without", outcome, .atMost(1.05))
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
}
