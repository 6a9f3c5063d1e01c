import SignetCore
import SignetTesting
import Testing

@testable import SignetServer

@Suite("Passwords that are made up for those who have none", .postgresServer, .timeLimit(.minutes(5)))
struct MadeUpPasswordTests {
    private static let kim = UserKey(realm: .root, name: "kim")

    private func configure(_ configuration: inout ServerConfiguration) {
        configuration.makesUpPasswords = true
        configuration.users += [User(name: "kim"), User(name: "lou"), User(name: "kim", realm: "/alpha")]
    }

    private func told(_ desk: TestDesk, _ user: String = "kim", realm: String = "/") async throws -> String? {
        try await desk.server.madeUpPassword(of: user, realm: realm)?.text
    }

    @Test("Each is another one, of sixteen characters, and logs in; who has a password is given none", arguments: StateKind.here)
    func different(kind: StateKind) async throws {
        try await StatePlace.with(kind) { place in
            try await place.desk(configure) { (desk: TestDesk) async throws in
                let passwords = [try await told(desk), try await told(desk, "lou"), try await told(desk, realm: "/alpha")]
                let lengths = passwords.map { $0?.count }
                #expect(Set(passwords.compactMap(\.self)).count == 3 && lengths == [16, 16, 16])
                let right = try #require(passwords[0])
                #expect(try await desk.logIn("Login", name: "kim", password: right).status == 200)
                #expect(try await desk.logIn("Login", name: "lou", password: right).status == 401)
                #expect(try await told(desk, "mira") == nil)
                #expect(try await told(desk, "nobody") == nil)
            }
        }
    }

    @Test("Without a state each start makes up others, and unless it is asked for there are none")
    func memory() async throws {
        let kept = Kept()
        for start in ["first", "second"] {
            try await TestDesk.run(.sample(configure)) { (desk: TestDesk) async throws in
                await kept.set(start, try await told(desk) ?? "none")
            }
        }
        #expect(await kept["first"] != kept["second"])
        try await TestDesk.run(.sample { $0.users.append(User(name: "kim")) }) { (desk: TestDesk) async throws in
            #expect(try await told(desk) == nil)
        }
    }

    @Test(
        "A restart makes up the same; a password changed since is good after it, and nobody is told one that is not",
        arguments: StateKind.lasting)
    func restart(kind: StateKind) async throws {
        try await StatePlace.with(kind) { place in
            let kept = Kept()
            try await place.desk(configure) { (desk: TestDesk) async throws in
                await kept.set("lou", try await told(desk, "lou") ?? "none")
            }
            try await place.desk(configure) { (desk: TestDesk) async throws in
                #expect(try await told(desk, "lou") == kept["lou"])
                let operations = AdminOperations(desk: desk.server.desk)
                #expect(try await operations.change(Self.kim, isLocked: nil, password: Secret("another".utf8)))
                #expect(try await told(desk) == nil)
            }
            try await place.desk(configure) { (desk: TestDesk) async throws in
                #expect(try await told(desk) == nil)
                #expect(try await desk.logIn("Login", name: "kim", password: "another").status == 200)
                #expect(try await desk.logIn("Login", name: "lou", password: kept["lou"]).status == 200)
            }
        }
    }

    @Test("Two servers of one state make up the same", .enabled(if: StateKind.here.contains(.postgreSQL)))
    func together() async throws {
        try await StatePlace.with(.postgreSQL) { place in
            try await place.desk(configure) { (one: TestDesk) async throws in
                try await place.desk(configure) { (other: TestDesk) async throws in
                    let password = try #require(try await told(one))
                    #expect(try await told(other) == password)
                    for desk in [one, other] {
                        #expect(try await desk.logIn("Login", name: "kim", password: password).status == 200)
                    }
                }
            }
        }
    }
}
