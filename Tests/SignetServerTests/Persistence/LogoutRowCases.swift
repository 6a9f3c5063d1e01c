import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

extension RowCase {
    /// The rows of logout tokens.
    static let logouts = [
        RowCase(.logoutDelivery) { server, user in
            let delivery = LogoutDelivery(
                id: "logout", client: ClientKey(realm: .root, id: "app"), user: user, session: TokenHash("session"),
                deadline: server.clock.now.addingTimeInterval(3600), nextAttempt: server.clock.now)
            try await server.devServer.context.store.write { tx in tx.logouts.store(delivery) }
            return { server async throws in
                let found = try await server.devServer.context.store.read { tx in try tx.logouts[delivery.rowName] }
                #expect(found == delivery)
            }
        }
    ]
}
