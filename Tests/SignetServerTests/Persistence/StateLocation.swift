import Foundation
import SignetCore
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

/// The kinds of storage for the state of a server.
enum StateKind: String, Sendable, CaseIterable, CustomTestStringConvertible {
    case memory
    case file
    case postgreSQL

    var testDescription: String { rawValue }

    /// The kinds that are available on this machine.
    static var available: [StateKind] {
        #if PostgreSQL
        allCases.filter { $0 != .postgreSQL || PostgresServer.isPossible }
        #else
        [.memory, .file]
        #endif
    }
    /// The available kinds that outlive a process.
    static var persistent: [StateKind] { available.filter { $0 != .memory } }
}

/// A location for the state of one test.
struct StateLocation: Sendable {
    let directory: TemporaryDirectory
    let state: ServerState

    static let key = Secret([UInt8](repeating: 7, count: 32))

    /// Runs `body` with an empty location.
    ///
    /// A database is created for it alone.
    static func with(_ kind: StateKind, _ body: (StateLocation) async throws -> Void) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        switch kind {
        case .memory: try await body(StateLocation(directory: directory, state: .memory))
        case .file: try await body(StateLocation(directory: directory, state: .file(directory.file("state/server.sqlite"))))
        case .postgreSQL:
            let server = try #require(PostgresTrait.server)
            let name = "d" + UUID().uuidString.lowercased().filter { $0 != "-" }
            try await server.execute("CREATE DATABASE \(name)")
            let connection = server.connection.replacing("dbname=postgres", with: "dbname=\(name)")
            try await body(StateLocation(directory: directory, state: .postgreSQL(connection, key: key)))
        }
    }

    /// Runs a server with this state while `body` runs; the state remains afterwards.
    func server(
        clock: ManualClock = ManualClock(), _ configure: (inout ServerConfiguration) -> Void = { _ in },
        _ body: @Sendable (TestServer) async throws -> Void
    ) async throws {
        var configuration = ServerConfiguration.sample()
        configure(&configuration)
        configuration.state = state
        try await TestServer.run(configuration, clock: clock, body)
    }

    var configuration: ServerConfiguration {
        var configuration = ServerConfiguration.sample()
        configuration.state = state
        return configuration
    }

    /// The store of this location, without a server.
    func rows() throws -> any RowStore { try SignetServer.StateLocation.open(state).0 }
}

/// One PostgreSQL server for all tests of a suite, because creating a cluster takes seconds.
struct PostgresTrait: SuiteTrait, TestScoping {
    @TaskLocal static var server: PostgresServer?

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        guard StateKind.available.contains(.postgreSQL) else { return try await function() }
        try await PostgresServer.with { server in
            try await Self.$server.withValue(server) { try await function() }
        }
    }
}

extension Trait where Self == PostgresTrait {
    /// Provides a PostgreSQL server to the suite if one is available.
    static var postgresServer: Self { PostgresTrait() }
}
