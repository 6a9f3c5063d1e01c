import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("Work for wrong passwords")
struct PasswordTimingTests {
    @Test("A wrong password costs one run of scrypt for every user and every unknown name, so the time discloses no users")
    func everyWrongPasswordCostsScrypt() async throws {
        let configuration = ServerConfiguration.sample { $0.users.append(User(name: "without-password")) }
        try await TestServer.run(configuration) { server in
            let kim = UserKey(realm: .root, name: "kim")
            #expect(
                try await AdminOperations(server: server.devServer.context).add(kim, password: Secret("p".utf8), claims: [:]))
            let passwords = try await server.devServer.context.store.queue.passwords
            // With the same wrong password for each name, and with another one.
            for password in ["wrong", "also wrong"] {
                for name in ["kim", "mira", "without-password", "nobody", "no one"] {
                    let before = passwords.computations
                    #expect(try await server.logIn("Login", name: name, password: password).message == "Login failure")
                    #expect(passwords.computations == before + 1, "\(name)")
                }
            }
        }
    }
}
