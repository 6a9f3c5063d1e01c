import SignetCore
import TestSupport
import Testing

@testable import SignetServer

extension ServerConfiguration {
    /// The sample configuration with the journeys of a test, written as in a configuration file below `journeys:`.
    static func sample(journeys: String, _ configure: (inout Self) -> Void = { _ in }) throws -> ServerConfiguration {
        let indented = journeys.split(separator: "\n", omittingEmptySubsequences: false).map { "  \($0)\n" }.joined()
        let file = try ServerConfiguration(yaml: loginJourney + indented)
        return .sample {
            $0.journeys = file.journeys
            configure(&$0)
        }
    }
}

extension TestServer {
    /// Runs a server with the journeys of a file in addition to `Login`.
    static func run(
        journeys: String, _ configure: (inout ServerConfiguration) -> Void = { _ in },
        _ body: @Sendable (TestServer) async throws -> Void
    ) async throws {
        try await run(try .sample(journeys: journeys, configure), body)
    }

    /// Returns the record of a user in the root realm.
    func person(_ name: String = "mira") async throws -> UserRecord? {
        try await devServer.context.store.read { tx in try tx.directory[UserKey(realm: .root, name: name)] }
    }
}

extension Reply {
    /// Indicates whether the journey ended with a session.
    var isLoggedIn: Bool { json["tokenId"]?.string?.isEmpty == false }
}
