import Foundation
import HTTPTypes
import SignetCore
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("The durability of transactions")
struct DurabilityTests {
    private struct Refused: Error, Equatable {}

    /// Runs requests, and returns the numbers of the batches that wait for the disk and of those that do not.
    private static func batches<R>(
        _ server: TestServer, _ requests: () async throws -> R
    ) async throws -> (R, (durable: Int, others: Int)) {
        let queue = try await server.devServer.context.store.queue
        let before = queue.writes
        let result = try await requests()
        let after = queue.writes
        let others = after.unsynced - before.unsynced
        return (result, (after.commits - before.commits - others, others))
    }

    @Test("The beginning of a login doesn't wait for the disk, and its answer does")
    func beginningDoesNotWait() async throws {
        try await TestServer.run { server in
            let browser = PageBrowser(server)
            let address = try await server.authorizeAddress()
            let (page, beginning) = try await Self.batches(server) { try await browser.get(address) }
            #expect(beginning.durable == 0 && beginning.others == 1)
            let (_, end) = try await Self.batches(server) { try await browser.signIn(page) }
            #expect(end.durable == 1 && end.others == 0)
            let (_, start) = try await Self.batches(server) { try await server.start("Login") }
            #expect(start.durable == 0 && start.others == 1)
            let (_, login) = try await Self.batches(server) { try await server.session() }
            #expect(login.durable == 1 && login.others == 1)
        }
    }

    @Test("A transaction that may be lost and changes more than the beginning of a login is durable")
    func otherChangesAreDurable() async throws {
        try await TestServer.run { server in
            let store = server.devServer.context.store
            let (_, batches) = try await Self.batches(server) {
                try await store.write { tx in
                    _ = try tx.sessions.open(UserKey(realm: .root, name: "mira"), tree: "Login")
                    tx.allowLossInPowerFailure()
                }
                // The next transaction has a new choice.
                try await store.write { tx in
                    _ = try tx.guesses.take(UserKey(realm: .root, name: "mira"), RateLimit(perMinute: 1, burst: 1))
                    tx.allowLossInPowerFailure()
                }
            }
            #expect(batches.durable == 2 && batches.others == 0)
        }
    }

    @Test("A login that has begun survives the end of the process")
    func beginningSurvivesProcess() async throws {
        try await TemporaryDirectory.with { directory in
            let path = directory.file("state/server.sqlite")
            let folder = directory.file("copy")
            let copy = "\(folder)/server.sqlite"
            try await TestServer.run(.sample { $0.state = .file(path) }) { server in
                var step = try await server.start("Login").step
                // What a process that is killed leaves: the files as they are now.
                try FileManager.default.createDirectory(
                    atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
                for ending in ["", "-wal", ".key"] {
                    try FileManager.default.copyItem(atPath: path + ending, toPath: copy + ending)
                }
                step.fill("NameCallback", .string("mira"))
                step.fill("PasswordCallback", .string(TestServer.password))
                try await TestServer.run(.sample { $0.state = .file(copy) }, clock: server.clock) { [step] next in
                    let isLoggedIn = try await next.next(step).isLoggedIn
                    #expect(isLoggedIn)
                }
            }
        }
    }

    @Test("A preparation gets the value of its transaction, and the caller gets both")
    func preparesBesideCommit() async throws {
        try await TestServer.run { server in
            let store = server.devServer.context.store
            let (value, prepared) = try await store.write { _ in
                7
            } preparing: {
                $0 * 2
            }
            #expect(value == 7 && prepared == 14)
            await #expect(throws: Refused.self) {
                try await store.write { _ -> Int in
                    throw Refused()
                } preparing: {
                    $0
                }
            }
            await #expect(throws: Refused.self) {
                try await store.write { _ in
                    7
                } preparing: { _ -> Int in
                    throw Refused()
                }
            }
        }
    }
}
