#if PostgreSQL
import Foundation
import SignetCore
import SignetNetwork
import Testing
import TestSupport

/// Two `signet serve` instances on one PostgreSQL database, as behind a load balancer that alternates between them.
struct InstancePair: Sendable {
    let instances: [TestServer.Process]
    let transport: AsyncHTTPTransport
    /// The instances that were killed.
    private let killed = Killed()

    static let password = "correct horse"
    static func name(_ user: Int) -> String { "user\(user)" }

    /// Starts both on a database of their own, runs `body`, and stops those still running; an exit code other than 0 is an error.
    static func with(userCount: Int, _ body: (InstancePair) async throws -> Void) async throws {
        try await PostgresServer.with { database in
            try await CommandLineFixture.with(vault: false) { cli in
                try await AsyncHTTPTransport().use { transport in
                    let instances = try await start(cli, database, userCount: userCount)
                    do {
                        let pair = InstancePair(instances: instances, transport: transport)
                        try await body(pair)
                        for (index, instance) in instances.enumerated() where !pair.isKilled(index) { try await instance.stop() }
                    } catch {
                        for instance in instances { instance.process.signal(SIGKILL) }
                        throw error
                    }
                }
            }
        }
    }

    /// Starts both at the same time.
    private static func start(
        _ cli: CommandLineFixture, _ database: PostgresServer, userCount: Int
    ) async throws -> [TestServer.Process] {
        let users = (0..<userCount).map { "  - {name: \(name($0)), password: \(password)}\n" }.joined()
        let configuration = """
            server: {pushTimeout: 3600, journeyTimeout: 3600, pollInterval: 1000}
            clients: [{id: app, redirectURIs: ["\(PushUser.redirectURI)"]}]
            users:
            \(users)
            """
        let config = try cli.write(configuration.utf8, to: "config.yaml")
        let key = try cli.write((0..<32).map { UInt8($0) }, to: "server.key")
        let passwords = try cli.write("*:*:*:*:\(PostgresServer.password)\n".utf8, to: "pgpass")
        let options = ["--config", config, "--state", database.uri, "--state-key", key]
        async let one = cli.serve(options, environment: ["PGPASSFILE": passwords])
        async let other = cli.serve(options, environment: ["PGPASSFILE": passwords])
        return try await [one, other]
    }

    /// Kills one of them without a graceful stop.
    func kill(_ index: Int) {
        killed.index.withLock { $0 = index }
        instances[index].process.signal(SIGKILL)
    }

    func isKilled(_ index: Int) -> Bool { killed.index.withLock { $0 } == index }

    /// Sends a request to one instance.
    ///
    /// Nil when that one was killed and did not respond; any other missing response is an error.
    func send(
        _ method: String, _ path: String, headers: [(String, String)] = [], body: String = "", at index: Int
    ) async throws -> HTTPResponse? {
        do {
            return try await transport.send(request(method, path, headers: headers, body: body, at: index))
        } catch {
            guard isKilled(index) else { throw error }
            return nil
        }
    }

    func request(
        _ method: String, _ path: String, headers: [(String, String)] = [], body: String = "", at index: Int
    ) -> HTTPRequest {
        var fields: HTTPHeaders = [:]
        for (name, value) in headers { fields.append(name, value) }
        return HTTPRequest(
            method, instances[index].url + path, headers: fields, body: Array(body.utf8), timeout: .seconds(60))
    }

    private final class Killed: Sendable {
        let index = Mutex<Int?>(nil)
    }
}

extension HTTPResponse {
    var json: JSONValue { (try? JSON.value(of: body)) ?? .null }
    var text: String { String(decoding: body, as: UTF8.self) }
}
#endif
