import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

extension RowCase {
    /// The rows of tokens that are valid once.
    static let usedTokens = [
        RowCase(.usedTokenID) { server, user in
            let client = ClientKey(realm: .root, id: user.name)
            let isFirst = try await server.useTokenID("1", of: client)
            #expect(isFirst)
            return { server async throws in
                let isFirst = try await server.useTokenID("1", of: client)
                let isOther = try await server.useTokenID("2", of: client)
                #expect(!isFirst && isOther, "the ID of a token is valid once")
            }
        }
    ]
}

extension TestServer {
    /// Uses the ID of a client's assertion, and returns true for the first use.
    fileprivate func useTokenID(_ id: String, of client: ClientKey) async throws -> Bool {
        try await devServer.context.store.write { tx in
            try tx.usedIDs.use(id, of: .clientAssertion, by: client, until: tx.now.addingTimeInterval(600))
        }
    }
}
