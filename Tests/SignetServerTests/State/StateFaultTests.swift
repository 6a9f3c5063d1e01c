import Foundation
import HTTPTypes
import SignetCore
import SignetStorage
import SignetTesting
import Synchronization
import Testing

@testable import SignetServer

extension StateTests {
    // MARK: Places that cannot be used

    @Test("A state that was sealed with another key, or is another server's, is an error at the start, and stays as it was")
    func wrongKey() async throws {
        try await StatePlace.with(.file) { place in
            let path = place.directory.file("state/server.sqlite")
            try await place.desk { desk in
                _ = try await desk.session()
                // The file is this server's alone.
                let second = DeskServer(configuration: place.configuration, logger: .silent)
                await #expect(throws: StoreError.self) { try await second.desk.prepare() }
            }
            #expect(try mode(path) == 0o600 && mode(path + ".key") == 0o600)
            #expect(try mode(place.directory.file("state")) == 0o700)
            let before = try Data(contentsOf: URL(filePath: path))
            var configuration = place.configuration
            configuration.state = .file(path, key: Secret([UInt8](repeating: 9, count: 32)))
            let codes: [(ServerState, StoreError.Code)] = [
                (.file(path, key: Secret([UInt8](repeating: 9, count: 32))), .keyMismatch),
                (.file(path, key: Secret([1])), .invalid),
                (.file(path + ".key"), .keyUnavailable), (.file("/dev/null/x"), .unsafePlace),
            ]
            for (state, code) in codes {
                configuration.state = state
                let server = DeskServer(configuration: configuration, logger: .silent)
                let error = await #expect(throws: StoreError.self) { try await server.desk.prepare() }
                #expect(error?.code == code, "\(String(describing: error))")
            }
            #expect(try Data(contentsOf: URL(filePath: path)) == before)
            try FileManager.default.removeItem(atPath: path + ".key")
            let server = DeskServer(configuration: place.configuration, logger: .silent)
            let error = await #expect(throws: StoreError.self) { try await server.desk.prepare() }
            #expect(error?.code == .keyUnavailable)
        }
    }

    /// A journey that waits with a password in its hands.
    private static let holding = """
        Holding:
          nodes:
            page:
              type: PageNode
              nodes: [{type: UsernameCollectorNode}, {type: PasswordCollectorNode}]
              outcomes: {outcome: message}
            message: {type: MessageNode, outcomes: {true: password, false: failure}}
            password: {type: DataStoreDecisionNode, outcomes: {true: success, false: failure}}
        """

    @Test("Nothing secret stands in the file: no token, password, name of a device's secret, nor what a journey collected")
    func secretsAtRest() async throws {
        let holding = try ServerConfiguration.sample(journeys: Self.holding).journeys
        try await StatePlace.with(.file) { place in
            let seen = Kept()
            try await place.desk { desk in
                let tokens = try await desk.tokens()
                let phone = try await desk.registeredPhone()
                // What rows hold, and nobody may read in the file.
                await seen.set("secret", Base64.encode(phone.secret.bytes, as: .url))
                await seen.set("device", "Test phone")
                let plain = try await desk.server.snapshot().rows.map { String(decoding: $0.bytes, as: UTF8.self) }
                for name in ["secret", "device"] {
                    let text = await seen[name]
                    let isHeld = plain.contains { $0.contains(text) }
                    #expect(isHeld, "no row holds the \(name): this test finds out nothing")
                }
                // What not even rows hold.
                for (name, token) in [("access", tokens.access), ("refresh", try #require(tokens.refresh))] {
                    let isHeld = plain.contains { $0.contains(token) }
                    #expect(!isHeld, "\(name)")
                    await seen.set(name, token)
                }
                await seen.set("session", try await desk.session())
            }
            try await place.desk({ $0.journeys = holding }) { desk in
                #expect(try await desk.logIn("Holding").json["authId"] != nil)
                let plain = try await desk.server.snapshot().rows.map { String(decoding: $0.bytes, as: UTF8.self) }
                let password = Base64.encode(Array(TestDesk.password.utf8), as: .url)
                let isHeld = plain.contains { $0.contains(password) }
                #expect(isHeld, "no row holds the password: this test finds out nothing")
                await seen.set("password", password)
            }
            let directory = place.directory.file("state")
            for file in try FileManager.default.contentsOfDirectory(atPath: directory) where !file.hasSuffix(".key") {
                let bytes = try Data(contentsOf: URL(filePath: "\(directory)/\(file)"))
                for name in ["session", "access", "refresh", "secret", "device", "password"] {
                    #expect(bytes.firstRange(of: Data(await seen[name].utf8)) == nil, "\(name) in \(file)")
                }
                #expect(bytes.firstRange(of: Data(TestDesk.password.utf8)) == nil)
            }
        }
    }

    // MARK: Faults

    @Test(
        "A full disk is 503, nothing is half done, and all is well when there is room again", .enabled(if: SmallDisk.isPossible))
    func fullDisk() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try await SmallDisk.with(directory.file("disk"), kilobytes: 2048) { disk in
            var configuration = ServerConfiguration.sample()
            configuration.state = .file(disk.path + "/state/server.sqlite")
            try await TestDesk.run(configuration) { desk in
                let session = try await desk.session()
                let code = try await desk.code(session)
                try disk.fill()
                var refused = 0
                for _ in 0..<400 where refused == 0 {
                    if try await desk.start("Login").status == 503 { refused += 1 }
                }
                #expect(refused == 1)
                let reply = try await desk.exchange(code)
                #expect(reply.status == 503, "\(reply.text)")
                disk.empty()
                // The code was not used up by the attempt that failed.
                #expect(try await desk.exchange(code).status == 200)
                #expect(try await desk.session() != session)
            }
        }
    }

    @Test(
        "A database that is lost is 503, and the server goes on when it is back",
        .enabled(if: StateKind.here.contains(.postgreSQL)))
    func lostDatabase() async throws {
        try await StatePlace.with(.postgreSQL) { place in
            try await place.desk { desk in
                let server = try #require(PostgresTrait.server)
                let session = try await desk.session()
                try await server.crash()
                #expect(try await desk.start("Login").status == 503)
                try await server.start()
                #expect(try await desk.session() != session)
                #expect(try await desk.authorize(session).status == 302)
            }
        }
    }

    // MARK: Many at once

    @Test("Of a hundred who exchange one code at the same instant one gets tokens", arguments: StateKind.here)
    func oneCode(kind: StateKind) async throws {
        try await StatePlace.with(kind) { place in
            try await place.desk { desk in
                let code = try await desk.code(try await desk.session())
                let statuses = try await atOnce(100) { _ in try await desk.exchange(code).status }
                let grantedCount = statuses.count { $0 == 200 }
                let refusedCount = statuses.count { $0 == 400 }
                #expect(grantedCount == 1 && refusedCount == 99)
            }
        }
    }

    @Test(
        "A hundred logins at the same instant are a hundred sessions, each there when it is answered", arguments: StateKind.here)
    func logins(kind: StateKind) async throws {
        try await StatePlace.with(kind) { place in
            let clock = StillClock()
            let tokens = Mutex<[String]>([])
            try await place.desk(clock: clock) { desk in
                let sessions = try await atOnce(100) { _ in try await desk.session() }
                #expect(Set(sessions).count == 100)
                tokens.withLock { $0 = sessions }
            }
            guard kind != .memory else { return }
            try await place.desk(clock: clock) { desk in
                for token in tokens.withLock({ $0 }) {
                    let info = try await desk.send(
                        .post, "/am/json/realms/root/sessions?_action=validate&tokenId=\(token)", body: "{}")
                    #expect(info.json["valid"] == .bool(true))
                }
            }
        }
    }

    @Test("A password whose hash takes long is worked out once, however many come with it", arguments: StateKind.here)
    func slowPasswords(kind: StateKind) async throws {
        let hash = try #require(PasswordHash(of: Secret("slow horse".utf8)))
        try await StatePlace.with(kind) { place in
            var slow = User(name: "slow")
            slow.passwordHash = hash
            try await place.desk({ [slow] in $0.users.append(slow) }) { desk in
                let statuses = try await atOnce(20) { index in
                    try await desk.logIn("Login", name: "slow", password: index % 2 == 0 ? "slow horse" : "wrong").status
                }
                let expected = statuses.indices.map { $0 % 2 == 0 ? 200 : 401 }
                #expect(statuses == expected)
                #expect(try await desk.server.desk.engine.passwords.worked == 2)
            }
        }
    }

    @Test("While a password's hash is worked out others log in", arguments: StateKind.here)
    func slowPasswordAside(kind: StateKind) async throws {
        let (password, runs) = (Secret("slow horse".utf8), Counter())
        let hash = try #require(PasswordHash(of: password))
        try await StatePlace.with(kind) { place in
            try await place.desk { desk in
                let engine = try await desk.server.desk.engine
                for workshop in engine.workshops { workshop.suspend() }
                async let slow = engine.run { transaction in
                    runs.add()
                    return (transaction.accepts(password, hash), [])
                }
                let hasBegun = try await eventually { runs.count == 1 }
                #expect(hasBegun)
                _ = try await desk.session()
                #expect(engine.passwords.worked == 0 && runs.count == 1)
                for workshop in engine.workshops { workshop.resume() }
                #expect(try await slow)
                #expect(engine.passwords.worked == 1 && runs.count == 2)
            }
        }
    }

    // MARK: Two servers

    @Test(
        "Two servers on one database: requests alternate, no login is lost and none counts twice",
        .enabled(if: StateKind.here.contains(.postgreSQL)))
    func twoServers() async throws {
        try await StatePlace.with(.postgreSQL) { place in
            let clock = StillClock()
            try await place.desk(clock: clock) { one in
                try await place.desk(clock: clock) { other in
                    let phone = try await one.registeredPhone()
                    let desks = [one, other]
                    for turn in 0..<40 {
                        let login = try await desks[turn % 2].waitingLogin(phone: phone)
                        let answers = try await atOnce(2) { try await phone.answer(login.push, at: desks[$0]).status }
                        #expect(answers.sorted() == [200, 400])
                        clock.advance(by: Double(try #require(login.step.waitMilliseconds)) / 1000)
                        let results = try await atOnce(2) { try await desks[$0].next(login.step).json["tokenId"]?.string }
                        let granted = results.compactMap(\.self)
                        #expect(granted.count == 1)
                        let token = try #require(granted.first)
                        #expect(try await desks[(turn + 1) % 2].authorize(token).status == 302)
                    }
                    // What stands at one is known to the other: keys, and tokens.
                    let tokens = try await one.tokens()
                    #expect(try await other.claims(try #require(tokens.id))["sub"] == "mira")
                    try await other.server.rotateSigningKey()
                    let newer = try await other.tokens()
                    let isTakenOver = try await eventually { (try? await one.claims(try #require(newer.id)))?["sub"] == "mira" }
                    #expect(isTakenOver)
                }
            }
        }
    }

    // MARK: Snapshots

    @Test("A snapshot brings everything back, also the clock, and can be kept as bytes", arguments: StateKind.here)
    func snapshot(kind: StateKind) async throws {
        try await StatePlace.with(kind) { place in
            try await place.desk { desk in
                let session = try await desk.session()
                let phone = try await desk.registeredPhone()
                desk.server.moveClock(by: .seconds(5))
                let sealed = try await desk.server.snapshot().sealed(with: StatePlace.key)
                #expect(sealed.firstRange(of: Array(phone.uid.utf8)) == nil)
                #expect(throws: StoreError.self) {
                    try DeskSnapshot(sealed: sealed, key: Secret([UInt8](repeating: 1, count: 32)))
                }

                let later = try await desk.session()
                desk.server.moveClock(by: .seconds(50))
                try await desk.server.restore(try DeskSnapshot(sealed: sealed, key: StatePlace.key))
                #expect(desk.server.desk.clock.offset == 5)
                #expect(try await desk.authorize(session).location["code"] != nil)
                #expect(try await desk.authorize(later).location["code"] == nil)
                let login = try await desk.waitingLogin(phone: phone)
                #expect(try await phone.answer(login.push, at: desk).status == 200)
            }
        }
    }

    private func mode(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }
}

/// Runs `body` so many times at once; the results in the order of the numbers.
func atOnce<R: Sendable>(_ count: Int, _ body: @escaping @Sendable (Int) async throws -> R) async throws -> [R] {
    try await withThrowingTaskGroup(of: (Int, R).self) { group in
        for index in 0..<count { group.addTask { (index, try await body(index)) } }
        var results: [(Int, R)] = []
        for try await result in group { results.append(result) }
        return results.sorted { $0.0 < $1.0 }.map(\.1)
    }
}
