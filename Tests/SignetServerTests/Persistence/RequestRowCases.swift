import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

extension RowCase {
    /// The rows of the requests of clients that wait for a browser or for a user's approval.
    static let requests = [
        RowCase(.pushedRequest) { server, user in
            let uri = try await server.pushed()
            return { server async throws in
                let session = try await server.session(name: user.name)
                #expect(try await server.authorize(pushed: uri, session).location["code"] != nil)
            }
        },
        RowCase(.backchannelRequest) { server, user in
            let end = server.clock.now.addingTimeInterval(600)
            let request = BackchannelRequest(
                client: ClientKey(realm: .root, id: "web"), user: user, generation: nil, scopes: ["openid"],
                messageID: "approval",
                expiresAt: end, interval: 5)
            let id = try await server.devServer.context.store.write { tx in tx.backchannelRequests.add(request) }
            return { server async throws in
                let result = try await server.devServer.context.store.write { tx in
                    let client = RegisteredClient(id: "web")
                    return try tx.backchannelRequests.redeem(id, for: client) { $0 == "approval" ? .approved : nil }
                }
                let approved = try result.get()
                #expect(approved.user == user && approved.scopes == ["openid"])
            }
        },
    ]
}
