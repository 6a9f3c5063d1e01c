import SignetCore
import Testing

@testable import SignetServer

@Suite("The name of a user")
struct UserNameTests {
    private static let composed = UserKey(realm: .root, name: "ren\u{E9}")
    private static let decomposed = UserKey(realm: .root, name: "rene\u{301}")

    @Test("is its bytes: one that only looks alike is another, for passwords, locks and devices alike")
    func lookAlike() {
        #expect(Self.composed.name == Self.decomposed.name, "to Swift they are equal")
        #expect(Self.composed != Self.decomposed)
        #expect(Set([Self.composed, Self.decomposed]).count == 2)

        let password = Secret("changeit".utf8)
        var server = ServerTransaction(users: [User(name: Self.composed.name, password: password)], trees: [])
        let verdicts = [Self.composed, Self.decomposed].map { server.directory.accepts(password, of: $0) }
        #expect(verdicts == [true, false])
        #expect(!server.directory.contains(Self.decomposed))
        server.directory.setLocked(true, Self.composed)
        #expect(server.directory[Self.composed]?.isLocked == true)
        #expect(server.directory[Self.decomposed] == nil)
    }
}
