import Foundation
import SignetCore
import SignetTesting

/// Whole logins at `signet serve`, with a state in a file, beside the bare parts of a login at a plain Hummingbird server; and the
/// bytes that a login leaves in the file.
enum WholeLoginRows {
    private static let minRate = 0.5
    private static let minRateBesideNode = 1.2
    private static let stateLimit = 1024.0

    static func measure(signet: String) async throws -> [Row] {
        let server = try MeasuredServer(signet)
        let bare = try MeasuredBareHTTPServer()
        let rows = try await LoadClient.with { client in
            let login = DevServerLogin(server: LoadedServer(server, client))
            let parts = BareLogin(url: bare.url, client: client)
            let web = DevServerWebLogin(server: LoadedServer(server, client))
            let requests = BareLogin(url: bare.url, client: client, signsAndCommits: false)
            var rows = [
                try await compare(
                    "logins (password, code, token), beside 4 bare requests, a signature and a commit", login, parts, people: 8)
            ]
            for people in [1, 8] {
                rows.append(
                    try await compare(
                        "logins in a browser (4 requests), beside 4 requests at plain Hummingbird, \(people) at once", web,
                        requests, people: people))
            }
            return rows
        }
        try server.stop()
        try bare.stop()
        return try await rows + beside(signet) + [stateRow(signet)]
    }

    /// Logins in a browser beside oidc-provider for Node.js, both with their state in memory.
    private static func beside(_ signet: String) async throws -> [Row] {
        let people = [1, 8]
        func name(_ people: Int) -> String { "logins in a browser, beside oidc-provider for Node.js, \(people) at once" }
        if let reason = NodeProvider.missing { return people.map { .skipped(name($0), because: reason) } }
        let server = try MeasuredServer(signet, ["--state", "memory"])
        let provider = try NodeProvider()
        let rows = try await LoadClient.with { client in
            let ours = DevServerWebLogin(server: LoadedServer(server, client))
            let reference = NodeProviderLogin(url: provider.url, client: client)
            var rows: [Row] = []
            for people in people {
                let outcome = try await Load.compare(
                    ("signet serve", ours), ("oidc-provider", reference), people: people, rounds: 9)
                rows.append(Row(name(people), outcome, .atLeast(minRateBesideNode)))
            }
            return rows
        }
        try server.stop()
        try provider.stop()
        return rows
    }

    /// Compares logins with another flow, in turns.
    private static func compare(
        _ name: String, _ ours: any LoginFlow, _ reference: any LoginFlow, people: Int
    ) async throws -> Row {
        let outcome = try await Load.compare(("signet serve", ours), ("bare", reference), people: people, rounds: 5)
        return Row(name, outcome, .atLeast(minRate))
    }

    // MARK: State

    private static func stateRow(_ signet: String) async throws -> Row {
        let (few, many) = (200, 1200)
        let before = try await stateSize(signet, after: few)
        let after = try await stateSize(signet, after: many)
        return Row(
            "state that a finished login in a browser leaves", of: "signet serve", Double(after - before) / Double(many - few),
            atMost: stateLimit, "B")
    }

    /// Returns the size of a state's file after some logins, when its server has stopped.
    private static func stateSize(_ signet: String, after logins: Int) async throws -> Int {
        let server = try MeasuredServer(signet)
        try await LoadClient.with { client in
            let login = DevServerWebLogin(server: LoadedServer(server, client))
            for _ in 0..<logins { try await login.logIn() }
        }
        try server.stop()
        return try server.stateSize()
    }
}
