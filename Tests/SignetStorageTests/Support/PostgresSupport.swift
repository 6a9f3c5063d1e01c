import Foundation
import SignetStorage
import TestSupport
import Testing

/// One server for all the tests of a suite, because creating a cluster takes seconds.
struct PostgresTrait: SuiteTrait, TestScoping {
    @TaskLocal static var server: PostgresServer?

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        guard PostgresServer.isPossible else { return try await function() }
        try await PostgresServer.with { server in
            try await Self.$server.withValue(server) { try await function() }
        }
    }
}

extension Trait where Self == PostgresTrait {
    /// The suite needs a PostgreSQL server.
    static var postgresServer: Self { PostgresTrait() }
}

extension PostgresServer {
    static let reason: Comment = "there is no PostgreSQL server to start, or no user to run it as (scripts/setup)"
}

/// A name that no other test has.
func uniqueTable() -> String { "t_" + UUID().uuidString.lowercased() }
