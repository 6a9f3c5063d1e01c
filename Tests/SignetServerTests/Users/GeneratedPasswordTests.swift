import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Generated passwords of users without one", .postgresServer, .timeLimit(.minutes(5)))
struct GeneratedPasswordTests {
    private static let kim = UserKey(realm: .root, name: "kim")

    private func configure(_ configuration: inout ServerConfiguration) {
        configuration.generatesPasswords = true
        configuration.users += [User(name: "kim"), User(name: "lou"), User(name: "kim", realm: "/alpha")]
    }

    private func shownPassword(_ server: TestServer, _ user: String = "kim", realm: String = "/") async throws -> String? {
        try await server.devServer.generatedPassword(of: user, realm: realm)?.text
    }

    @Test("Each user without a password gets a different password of 16 characters that logs in", arguments: StateKind.available)
    func generatesDistinctPasswords(kind: StateKind) async throws {
        try await StateLocation.with(kind) { location in
            try await location.server(configure) { (server: TestServer) async throws in
                let passwords = [
                    try await shownPassword(server), try await shownPassword(server, "lou"),
                    try await shownPassword(server, realm: "/alpha"),
                ]
                let lengths = passwords.map { $0?.count }
                #expect(Set(passwords.compactMap(\.self)).count == 3 && lengths == [16, 16, 16])
                let right = try #require(passwords[0])
                #expect(try await server.logIn("Login", name: "kim", password: right).status == 200)
                #expect(try await server.logIn("Login", name: "lou", password: right).status == 401)
                #expect(try await shownPassword(server, "mira") == nil)
                #expect(try await shownPassword(server, "nobody") == nil)
            }
        }
    }

    @Test("Without a stored state each start generates new passwords, and only when configured")
    func generatesPasswordsPerStart() async throws {
        let kept = CarriedValues()
        for start in ["first", "second"] {
            try await TestServer.run(.sample(configure)) { (server: TestServer) async throws in
                await kept.set(start, try await shownPassword(server) ?? "none")
            }
        }
        #expect(await kept["first"] != kept["second"])
        try await TestServer.run(.sample { $0.users.append(User(name: "kim")) }) { (server: TestServer) async throws in
            #expect(try await shownPassword(server) == nil)
        }
    }

    @Test(
        "A restart generates the same passwords, and a changed password stays valid and is not shown",
        arguments: StateKind.persistent)
    func restartKeepsGeneratedPasswords(kind: StateKind) async throws {
        try await StateLocation.with(kind) { location in
            let kept = CarriedValues()
            try await location.server(configure) { (server: TestServer) async throws in
                await kept.set("lou", try await shownPassword(server, "lou") ?? "none")
            }
            try await location.server(configure) { (server: TestServer) async throws in
                #expect(try await shownPassword(server, "lou") == kept["lou"])
                let operations = AdminOperations(server: server.devServer.context)
                #expect(try await operations.change(Self.kim, isLocked: nil, password: Secret("another".utf8)))
                #expect(try await shownPassword(server) == nil)
            }
            try await location.server(configure) { (server: TestServer) async throws in
                #expect(try await shownPassword(server) == nil)
                #expect(try await server.logIn("Login", name: "kim", password: "another").status == 200)
                #expect(try await server.logIn("Login", name: "lou", password: kept["lou"]).status == 200)
            }
        }
    }

    @Test("Two servers with one state generate the same passwords", .enabled(if: StateKind.available.contains(.postgreSQL)))
    func serversShareGeneratedPasswords() async throws {
        try await StateLocation.with(.postgreSQL) { location in
            try await location.server(configure) { (one: TestServer) async throws in
                try await location.server(configure) { (other: TestServer) async throws in
                    let password = try #require(try await shownPassword(one))
                    #expect(try await shownPassword(other) == password)
                    for server in [one, other] {
                        #expect(try await server.logIn("Login", name: "kim", password: password).status == 200)
                    }
                }
            }
        }
    }
}
