import Foundation
import Logging
import SignetCore
import SignetStorage
import SignetTesting
import Testing

@testable import SignetServer

/// What a server can keep its state in.
enum StateKind: String, Sendable, CaseIterable, CustomTestStringConvertible {
    case memory
    case file
    case postgreSQL

    var testDescription: String { rawValue }

    /// Those that can be here.
    static var here: [StateKind] {
        #if PostgreSQL
        allCases.filter { $0 != .postgreSQL || PostgresServer.isPossible }
        #else
        [.memory, .file]
        #endif
    }
    /// Those of them that outlive a process.
    static var lasting: [StateKind] { here.filter { $0 != .memory } }
}

/// A place for the state of one test.
struct StateLocation: Sendable {
    let directory: TemporaryDirectory
    let state: ServerState

    static let key = Secret([UInt8](repeating: 7, count: 32))

    /// Gives `body` an empty place. A database is made for it alone.
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

    /// A server on this place, as long as `body` takes; what it knows stays here.
    func server(
        clock: StillClock = StillClock(), _ configure: (inout ServerConfiguration) -> Void = { _ in },
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

    /// The engine of this place, without a server.
    func rows() throws -> any RowStore { try SignetServer.StateLocation.open(state).0 }
}

/// One server for all the tests of a suite: to make a cluster takes seconds.
struct PostgresTrait: SuiteTrait, TestScoping {
    @TaskLocal static var server: PostgresServer?

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        guard StateKind.here.contains(.postgreSQL) else { return try await function() }
        try await PostgresServer.with { server in
            try await Self.$server.withValue(server) { try await function() }
        }
    }
}

extension Trait where Self == PostgresTrait {
    /// The suite needs a PostgreSQL server, if there can be one.
    static var postgresServer: Self { PostgresTrait() }
}

extension Logger {
    /// For whom nobody listens.
    static var silent: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}
