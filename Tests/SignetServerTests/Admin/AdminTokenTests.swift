import HTTPTypes
import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("Tokens in the administration API")
struct AdminTokenTests {
    @Test("Access and refresh tokens are listed without their values, and are revoked together")
    func listsAndRevokesTokens() async throws {
        try await TestServer.run(.sample { $0.adminToken = Secret(AdminTests.token.utf8) }) { server in
            let session = try await server.session()
            let code = try #require(try await server.authorize(session).location["code"])
            let issued = try await server.exchange(code).json
            let access = try #require(issued["access_token"]?.string)
            let refresh = try #require(issued["refresh_token"]?.string)
            let list = try await server.admin(.get, "tokens?user=mira&client=app")
            let tokens = try #require(list.json["tokens"]?.array)
            let kinds = Set(tokens.compactMap { $0["kind"]?.string })
            #expect(kinds == ["access", "refresh"])
            #expect(!list.text.contains(access) && !list.text.contains(refresh) && !list.text.contains(code))
            #expect(try await server.admin(.get, "tokens?user=noa").json["tokens"] == .array([]))
            let grant = try #require(tokens.first?["grant"]?.string)
            #expect(try await server.admin(.delete, "tokens/\(grant)").status == 200)
            #expect(try await server.admin(.delete, "tokens/\(grant)").status == 404)
            #expect(try await server.admin(.get, "tokens").json["tokens"] == .array([]))
        }
    }
}
