import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("The rotation of signing keys")
struct KeyRotationTests {
    private static func configuration(_ configure: (inout ServerConfiguration) -> Void = { _ in }) -> ServerConfiguration {
        .sample {
            $0.adminToken = Secret(AdminTests.token.utf8)
            $0.clients.append(
                RegisteredClient(id: "jwt", redirectURIs: [TestServer.redirectURI]) {
                    $0.accessTokens = .jwt
                    $0.accessTokenSigningAlgorithm = .es256
                })
            configure(&$0)
        }
    }

    private static func published(_ server: TestServer) async throws -> Set<String> {
        let reply = try await server.send(.get, "\(TestServer.oauth)/connect/jwk_uri", headers: [:])
        return Set((reply.json["keys"]?.array ?? []).compactMap { $0["kid"]?.string })
    }

    @Test("New keys sign at once, and earlier ones are accepted until the longest lifetime of a token is over")
    func overlaps() async throws {
        let configuration = Self.configuration {
            $0.clients.append(
                RegisteredClient(id: "long", redirectURIs: [TestServer.redirectURI]) {
                    $0.lifetimes = TokenLifetimes { $0.accessToken = 7200 }
                })
        }
        try await TestServer.run(configuration) { server in
            let old = try await server.tokens(client: "jwt")
            let before = try await Self.published(server)
            let rotated = try await server.admin(.post, "keys")
            let keys = rotated.json["keys"]?.array ?? []
            #expect(rotated.status == 201 && keys.count == 8)
            let signing = Set(keys.filter { $0["signing"] == .bool(true) }.compactMap { $0["kid"]?.string })
            #expect(signing.count == 4 && signing.isDisjoint(with: before))
            let new = try await server.tokens(client: "jwt")
            let identifier = SignedToken(new.access)?.header["kid"]?.string ?? ""
            #expect(signing.contains(identifier))

            server.clock.advance(by: 3000)
            let overlapping = try await Self.published(server)
            #expect(overlapping == before.union(signing))
            let isActive = try await server.isActive(old.access)
            let subject = try await server.claims(old.access)["sub"]
            #expect(isActive && subject == "mira")

            server.clock.advance(by: 4300)
            let after = try await Self.published(server)
            #expect(after == signing)
            let isHint = try await IDTokenHint(try #require(old.id), at: server.devServer.context) != nil
            #expect(!isHint)
        }
    }

    @Test("The keys and their retirement survive a restart and a reset")
    func keysSurviveRestart() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let configuration = Self.configuration { $0.state = .file(directory.file("state/server.sqlite")) }
        let all = Mutex<Set<String>>([])
        try await TestServer.run(configuration) { server in
            try await server.devServer.rotateSigningKey()
            let names = try await Self.published(server)
            #expect(names.count == 8)
            all.withLock { $0 = names }
        }
        try await TestServer.run(configuration) { server in
            try await server.devServer.reset()
            let names = try await Self.published(server)
            let expected = all.withLock { $0 }
            #expect(names == expected)
            server.clock.advance(by: 3700)
            let left = try await Self.published(server)
            #expect(left.count == 4 && left.isSubset(of: expected))
        }
    }

    @Test("A state of an earlier version, which has an RSA key only, keeps it and gets the other keys")
    func addsKeysToEarlierState() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let configuration = Self.configuration {
            $0.state = .file(directory.file("state/server.sqlite"))
            $0.signingKey = nil
        }
        let key = try #require(TestServer.signingKey)
        let expected = try SigningKey(StoredSigningKey(kind: .rsa, secret: key)).id
        try await TestServer.run(configuration) { server in
            try await server.devServer.context.store.queue.run { transaction in
                transaction.put([key], RowKey(.server, "signing-keys"))
                return ((), signals: [])
            }
            let names = try await Self.published(server)
            #expect(names.count == 4 && names.contains(expected))
        }
    }

    @Test("The configured key signs, and a key that it replaces is accepted for a while")
    func configuredKeyReplacesGeneratedOne() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let names = Mutex<[Set<String>]>([])
        for configured in [nil, TestServer.signingKey] {
            let configuration = Self.configuration {
                $0.state = .file(directory.file("state/server.sqlite"))
                $0.signingKey = configured
            }
            try await TestServer.run(configuration) { server in
                let published = try await Self.published(server)
                names.withLock { $0.append(published) }
                server.clock.advance(by: 3700)
                let later = try await Self.published(server)
                names.withLock { $0.append(later) }
            }
        }
        let all = names.withLock { $0 }
        #expect(all.map(\.count) == [4, 4, 6, 4])
        #expect(all[2].isSuperset(of: all[0]) && !all[3].isSuperset(of: all[0]))
    }

    @Test("At most a fixed number of keys of each kind is kept")
    func limitsKeys() async throws {
        try await TestServer.run(Self.configuration()) { server in
            let keys = SigningKeys(server.devServer.context.store)
            for _ in 0...SigningKeys.maxKeys {
                let key = try await SigningKey.generate(.ed25519)
                _ = try await keys.add([.ed25519: key], onlyAsFirst: false, at: server.clock.now, keepingFor: 3600)
            }
            let kept = try await keys.all()
            let signing = kept.filter { $0.retiredAt == nil }
            #expect(kept.count == SigningKeys.maxKeys && signing.count == 1)
        }
    }
}
