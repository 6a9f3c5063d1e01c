import SignetCore
import Testing

@testable import SignetServer

@Suite("User names")
struct UserNameTests {
    private static let composed = UserKey(realm: .root, name: "ren\u{E9}")
    private static let decomposed = UserKey(realm: .root, name: "rene\u{301}")

    @Test("User names are compared by bytes, so a canonically equivalent name is another user")
    func comparesNamesByBytes() throws {
        #expect(Self.composed.name == Self.decomposed.name, "Swift compares them as equal")
        #expect(Self.composed != Self.decomposed)
        #expect(Set([Self.composed, Self.decomposed]).count == 2)

        let password = Secret("changeit".utf8)
        var server = ServerTransaction(users: [User(name: Self.composed.name, password: password)], trees: [])
        let results = try [Self.composed, Self.decomposed].map { try server.directory.accepts(password, of: $0) }
        #expect(results == [true, false])
        #expect(try !server.directory.contains(Self.decomposed))
        try server.directory.setLocked(true, Self.composed)
        #expect(try server.directory[Self.composed]?.isLocked == true)
        #expect(try server.directory[Self.decomposed] == nil)
    }
}
