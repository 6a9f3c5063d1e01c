import Foundation
import HTTPTypes
import SignetCore
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

extension StateTests {
    // MARK: Places that cannot be used

    @Test("A server refuses a state with the wrong key or in use by another server and leaves it unchanged")
    func wrongKeyFailsStart() async throws {
        try await StateLocation.with(.file) { location in
            let path = location.directory.file("state/server.sqlite")
            try await location.server { server in
                _ = try await server.session()
                // The file is locked by this server.
                let second = DevServer(configuration: location.configuration, logger: .silent)
                await #expect(throws: StoreError.self) { try await second.context.prepare() }
            }
            #expect(try mode(path) == 0o600 && mode(path + ".key") == 0o600)
            #expect(try mode(location.directory.file("state")) == 0o700)
            let before = try Data(contentsOf: URL(filePath: path))
            var configuration = location.configuration
            configuration.state = .file(path, key: Secret([UInt8](repeating: 9, count: 32)))
            let codes: [(ServerState, StoreError.Code)] = [
                (.file(path, key: Secret([UInt8](repeating: 9, count: 32))), .keyMismatch),
                (.file(path, key: Secret([1])), .invalid),
                (.file(path + ".key"), .keyUnavailable), (.file("/dev/null/x"), .insecurePermissions),
            ]
            for (state, code) in codes {
                configuration.state = state
                let server = DevServer(configuration: configuration, logger: .silent)
                let error = await #expect(throws: StoreError.self) { try await server.context.prepare() }
                #expect(error?.code == code, "\(String(describing: error))")
            }
            #expect(try Data(contentsOf: URL(filePath: path)) == before)
            try FileManager.default.removeItem(atPath: path + ".key")
            let server = DevServer(configuration: location.configuration, logger: .silent)
            let error = await #expect(throws: StoreError.self) { try await server.context.prepare() }
            #expect(error?.code == .keyUnavailable)
        }
    }

    /// A journey that waits while it holds a collected password.
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

    @Test("The state file contains no secret in clear: no token, password, device secret or collected input")
    func sealsSecretsAtRest() async throws {
        let holding = try ServerConfiguration.sample(journeys: Self.holding).journeys
        try await StateLocation.with(.file) { location in
            let seen = CarriedValues()
            try await location.server { server in
                let tokens = try await server.tokens()
                let phone = try await server.registeredPhone()
                // Values that rows hold but that must not be readable in the file.
                await seen.set("secret", Base64.encode(phone.secret.bytes, as: .url))
                await seen.set("device", "Test phone")
                let plain = try await server.devServer.snapshot().rows.map { String(decoding: $0.bytes, as: UTF8.self) }
                for name in ["secret", "device"] {
                    let text = await seen[name]
                    let isHeld = plain.contains { $0.contains(text) }
                    #expect(isHeld, "no row holds the \(name): the test proves nothing")
                }
                // Values that not even rows hold.
                for (name, token) in [("access", tokens.access), ("refresh", try #require(tokens.refresh))] {
                    let isHeld = plain.contains { $0.contains(token) }
                    #expect(!isHeld, "\(name)")
                    await seen.set(name, token)
                }
                await seen.set("session", try await server.session())
            }
            try await location.server({ $0.journeys = holding }) { server in
                #expect(try await server.logIn("Holding").json["authId"] != nil)
                let plain = try await server.devServer.snapshot().rows.map { String(decoding: $0.bytes, as: UTF8.self) }
                let password = Base64.encode(Array(TestServer.password.utf8), as: .url)
                let isHeld = plain.contains { $0.contains(password) }
                #expect(isHeld, "no row holds the password: the test proves nothing")
                await seen.set("password", password)
            }
            let directory = location.directory.file("state")
            for file in try FileManager.default.contentsOfDirectory(atPath: directory) where !file.hasSuffix(".key") {
                let bytes = try Data(contentsOf: URL(filePath: "\(directory)/\(file)"))
                for name in ["session", "access", "refresh", "secret", "device", "password"] {
                    #expect(bytes.firstRange(of: Data(await seen[name].utf8)) == nil, "\(name) in \(file)")
                }
                #expect(bytes.firstRange(of: Data(TestServer.password.utf8)) == nil)
            }
        }
    }

    // MARK: Faults

    @Test(
        "A full disk gives 503 without a partial change, and freed space lets logins succeed", .enabled(if: SmallDisk.isPossible))
    func fullDiskChangesNothing() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try await SmallDisk.with(directory.file("disk"), kilobytes: 2048) { disk in
            var configuration = ServerConfiguration.sample()
            configuration.state = .file(disk.path + "/state/server.sqlite")
            try await TestServer.run(configuration) { server in
                let session = try await server.session()
                let code = try await server.code(session)
                try disk.fill()
                var refused = 0
                for _ in 0..<400 where refused == 0 {
                    if try await server.start("Login").status == 503 { refused += 1 }
                }
                #expect(refused == 1)
                let reply = try await server.exchange(code)
                #expect(reply.status == 503, "\(reply.text)")
                disk.empty()
                // The failed attempt did not spend the code.
                #expect(try await server.exchange(code).status == 200)
                #expect(try await server.session() != session)
            }
        }
    }

    @Test(
        "A lost database is answered with 503 until it is back",
        .enabled(if: StateKind.available.contains(.postgreSQL)))
    func recoversFromLostDatabase() async throws {
        try await StateLocation.with(.postgreSQL) { location in
            try await location.server { server in
                let postgres = try #require(PostgresTrait.server)
                let session = try await server.session()
                try await postgres.crash()
                #expect(try await server.start("Login").status == 503)
                try await postgres.start()
                #expect(try await server.session() != session)
                #expect(try await server.authorize(session).status == 302)
            }
        }
    }

    // MARK: Many at once

    @Test(
        "From every store exactly one of a hundred simultaneous exchanges of one code gets tokens", arguments: StateKind.available
    )
    func issuesTokensOnceFromEveryStore(kind: StateKind) async throws {
        try await StateLocation.with(kind) { location in
            try await location.server { server in
                let code = try await server.code(try await server.session())
                let statuses = try await atOnce(100) { _ in try await server.exchange(code).status }
                let grantedCount = statuses.count { $0 == 200 }
                let refusedCount = statuses.count { $0 == 400 }
                #expect(grantedCount == 1 && refusedCount == 99)
            }
        }
    }

    @Test(
        "A hundred simultaneous logins create a hundred sessions, each stored when it is answered", arguments: StateKind.available
    )
    func storesConcurrentLogins(kind: StateKind) async throws {
        try await StateLocation.with(kind) { location in
            let clock = ManualClock()
            let tokens = Mutex<[String]>([])
            try await location.server(clock: clock) { server in
                let sessions = try await atOnce(100) { _ in try await server.session() }
                #expect(Set(sessions).count == 100)
                tokens.withLock { $0 = sessions }
            }
            guard kind != .memory else { return }
            try await location.server(clock: clock) { server in
                for token in tokens.withLock({ $0 }) {
                    let info = try await server.send(
                        .post, "/am/json/realms/root/sessions?_action=validate&tokenId=\(token)", body: "{}")
                    #expect(info.json["valid"] == .bool(true))
                }
            }
        }
    }

    @Test("A slow password hash is computed once however many logins arrive with that password", arguments: StateKind.available)
    func computesSlowHashOnce(kind: StateKind) async throws {
        let hash = try #require(PasswordHash(of: Secret("slow horse".utf8)))
        try await StateLocation.with(kind) { location in
            var slow = User(name: "slow")
            slow.passwordHash = hash
            try await location.server({ [slow] in $0.users.append(slow) }) { server in
                let statuses = try await atOnce(20) { index in
                    try await server.logIn("Login", name: "slow", password: index % 2 == 0 ? "slow horse" : "wrong").status
                }
                let expected = statuses.indices.map { $0 % 2 == 0 ? 200 : 401 }
                #expect(statuses == expected)
                #expect(try await server.devServer.context.store.queue.passwords.computations == 2)
            }
        }
    }

    @Test("Other users can log in while a slow password hash is computed", arguments: StateKind.available)
    func slowHashDoesNotBlockLogins(kind: StateKind) async throws {
        let (password, runs) = (Secret("slow horse".utf8), Counter())
        let hash = try #require(PasswordHash(of: password))
        try await StateLocation.with(kind) { location in
            try await location.server { server in
                let engine = try await server.devServer.context.store.queue
                for workerQueue in engine.workerQueues { workerQueue.suspend() }
                async let slow = engine.run { transaction in
                    runs.add()
                    return (try transaction.accepts(password, hash), [])
                }
                let hasBegun = try await eventually { runs.count == 1 }
                #expect(hasBegun)
                _ = try await server.session()
                #expect(engine.passwords.computations == 0 && runs.count == 1)
                for workerQueue in engine.workerQueues { workerQueue.resume() }
                #expect(try await slow)
                #expect(engine.passwords.computations == 1 && runs.count == 2)
            }
        }
    }

    // MARK: Two servers

    @Test(
        "Two servers on one database accept alternating requests and count each login once",
        .enabled(if: StateKind.available.contains(.postgreSQL)))
    func serversShareLogins() async throws {
        try await StateLocation.with(.postgreSQL) { location in
            let clock = ManualClock()
            try await location.server(clock: clock) { one in
                try await location.server(clock: clock) { other in
                    let phone = try await one.registeredPhone()
                    let servers = [one, other]
                    for turn in 0..<40 {
                        let login = try await servers[turn % 2].waitingLogin(phone: phone)
                        let answers = try await atOnce(2) { try await phone.answer(login.push, at: servers[$0]).status }
                        #expect(answers == [200, 200])
                        clock.advance(by: Double(try #require(login.step.waitMilliseconds)) / 1000)
                        let results = try await atOnce(2) { try await servers[$0].next(login.step).json["tokenId"]?.string }
                        let granted = results.compactMap(\.self)
                        #expect(granted.count == 1)
                        let token = try #require(granted.first)
                        #expect(try await servers[(turn + 1) % 2].authorize(token).status == 302)
                    }
                    // Keys and tokens of one server are known to the other.
                    let tokens = try await one.tokens()
                    #expect(try await other.claims(try #require(tokens.id))["sub"] == "mira")
                    try await other.devServer.rotateSigningKey()
                    let newer = try await other.tokens()
                    let isTakenOver = try await eventually { (try? await one.claims(try #require(newer.id)))?["sub"] == "mira" }
                    #expect(isTakenOver)
                }
            }
        }
    }

    // MARK: Snapshots

    @Test("A snapshot restores all rows and the clock, and can be stored as sealed bytes", arguments: StateKind.available)
    func sealedSnapshotRestoresState(kind: StateKind) async throws {
        try await StateLocation.with(kind) { location in
            try await location.server { server in
                let session = try await server.session()
                let phone = try await server.registeredPhone()
                server.devServer.moveClock(by: .seconds(5))
                let sealed = try await server.devServer.snapshot().sealed(with: StateLocation.key)
                #expect(sealed.firstRange(of: Array(phone.uid.utf8)) == nil)
                #expect(throws: StoreError.self) {
                    try StateSnapshot(sealed: sealed, key: Secret([UInt8](repeating: 1, count: 32)))
                }

                let later = try await server.session()
                server.devServer.moveClock(by: .seconds(50))
                try await server.devServer.restore(try StateSnapshot(sealed: sealed, key: StateLocation.key))
                #expect(server.devServer.context.clock.offset == 5)
                #expect(try await server.authorize(session).location["code"] != nil)
                #expect(try await server.authorize(later).location["code"] == nil)
                let login = try await server.waitingLogin(phone: phone)
                #expect(try await phone.answer(login.push, at: server).status == 200)
            }
        }
    }

    private func mode(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }
}

/// Runs `body` `count` times at once and returns the results in the order of the indices.
func atOnce<R: Sendable>(_ count: Int, _ body: @escaping @Sendable (Int) async throws -> R) async throws -> [R] {
    try await withThrowingTaskGroup(of: (Int, R).self) { group in
        for index in 0..<count { group.addTask { (index, try await body(index)) } }
        var results: [(Int, R)] = []
        for try await result in group { results.append(result) }
        return results.sorted { $0.0 < $1.0 }.map(\.1)
    }
}
