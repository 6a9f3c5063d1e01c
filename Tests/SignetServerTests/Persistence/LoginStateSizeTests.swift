import Foundation
import SignetCore
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("The state that logins leave", .timeLimit(.minutes(10)))
struct LoginStateSizeTests {
    private static let limit = 1024.0
    private static let logins = 200

    @Test("A finished login leaves at most 1 KB in the file of the state", arguments: [false, true])
    func leavesLittle(isInBrowser: Bool) async throws {
        try await TemporaryDirectory.with { directory in
            let path = directory.file("state/server.sqlite")
            let before = try await Self.size(of: path, after: 20, isInBrowser)
            let after = try await Self.size(of: path, after: Self.logins, isInBrowser)
            let left = Double(after - before) / Double(Self.logins)
            #expect(left > 0 && left <= Self.limit, "\(left) bytes")
        }
    }

    /// Returns the size of the file after some logins, when the server has stopped and the file is complete.
    private static func size(of path: String, after logins: Int, _ isInBrowser: Bool) async throws -> Int {
        try await TestServer.run(.sample { $0.state = .file(path) }) { server in
            for _ in 0..<logins {
                let code = isInBrowser ? try await browserCode(server) : try await server.code(try await server.session())
                #expect(try await server.exchange(code).status == 200)
            }
        }
        #expect(!FileManager.default.fileExists(atPath: "\(path)-wal"))
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(attributes[.size] as? Int)
    }

    private static func browserCode(_ server: TestServer) async throws -> String {
        let browser = PageBrowser(server)
        let end = try await browser.signIn(try await browser.get(try await server.authorizeAddress()))
        return try #require(try end.location["code"])
    }

    @Test("The first tokens of a login are in the row of their grant, and those of a refresh in rows of their own")
    func storesFirstTokensWithGrant() async throws {
        try await TestServer.run { server in
            let tokens = try await server.tokens()
            let refresh = try #require(tokens.refresh)
            func counts() async throws -> [Int] {
                let queue = try await server.devServer.context.store.queue
                return try queue.store.transact { reader throws(StoreError) in
                    var counts: [Int] = []
                    for kind in [RowKind.grant, .accessToken, .refreshToken, .code] {
                        counts.append(try reader.count(kind.rawValue, at: .min, limit: 100))
                    }
                    return (counts, RowChanges())
                }
            }
            #expect(try await counts() == [1, 0, 0, 0])
            #expect(tokens.access.utf8.count == 43 && refresh.utf8.count == 43)
            #expect(tokens.access.prefix(16) == refresh.prefix(16) && tokens.access != refresh)
            let renewed = try Tokens(try await server.refresh(refresh))
            #expect(try await counts() == [1, 1, 1, 0])
            for token in [tokens.access, renewed.access] { #expect(try await server.userInfo(token).status == 200) }
            let listed = try await server.devServer.context.store.read { tx in
                let counts = try tx.tokens.counts(10)
                return [counts.access, counts.refresh, try tx.tokens.newest(10).count]
            }
            #expect(listed == [2, 2, 4])
            // A spent refresh token revokes the grant with all its tokens.
            #expect(try await server.refresh(refresh).status == 400)
            for token in [tokens.access, renewed.access] { #expect(try await server.userInfo(token).status == 401) }
        }
    }

    @Test("A revoked first access token is not valid any more, and its refresh token is")
    func revokesFirstAccessToken() async throws {
        try await TestServer.run { server in
            let tokens = try await server.tokens()
            let revoked = try await server.postForm("token/revoke", ["token": tokens.access, "client_id": "app"])
            #expect(revoked.status == 200)
            #expect(try await server.userInfo(tokens.access).status == 401)
            #expect(try await server.refresh(try #require(tokens.refresh)).status == 200)
        }
    }

    @Test("The first tokens end with their own times", arguments: [(59, 200, 200), (60, 401, 200), (600, 401, 400)])
    func firstTokensExpire(seconds: Int, access: Int, refresh: Int) async throws {
        try await TestServer.run { server in
            let tokens = try await server.tokens(client: "short")
            server.clock.advance(by: Double(seconds))
            #expect(try await server.userInfo(tokens.access).status == access)
            #expect(try await server.refresh(try #require(tokens.refresh), client: "short").status == refresh)
        }
    }
}
