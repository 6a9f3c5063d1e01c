import FRAuthenticator
import Foundation
import SignetCore
import SignetTesting
import Testing

/// A storage client that fails at one of its changes: what was stored before is still there, and nothing of what was begun.
@Suite("A storage client that fails")
struct FailingClientTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let operation: String
        /// How many changes the operation makes when all goes well.
        let changes: Int
        /// What the operation itself says: nil when it throws.
        let prepare: @Sendable (Bench) async throws -> @Sendable () async throws -> Bool
        var testDescription: String { operation }
    }

    static let rows: [Row] = [
        Row(operation: "enrol codes", changes: 2) { bench in
            {
                _ = try await bench.client.createMechanismFromUri(Sample.totp)
                return true
            }
        },
        Row(operation: "enrol codes and push", changes: 3) { bench in
            try bench.client.registerForRemoteNotifications("token-1")
            return {
                _ = try await bench.client.createMechanismFromUri(Sample.combined)
                return true
            }
        },
        Row(operation: "enrol codes for an account that is there", changes: 2) { bench in
            try await bench.enrollBoth()
            return {
                _ = try await bench.client.createMechanismFromUri(Sample.hotp)
                return true
            }
        },
        Row(operation: "generate an HOTP code", changes: 1) { bench in
            let hotp = try await bench.client.createMechanismFromUri(Sample.hotp) as? HOTPMechanism
            return { try hotp?.generateCode() != nil }
        },
        Row(operation: "rename", changes: 1) { bench in
            let account = try await bench.enrollBoth().account
            return {
                account.displayIssuer = "Harbour"
                return try bench.client.updateAccount(account: account)
            }
        },
        Row(operation: "lock", changes: 1) { bench in
            _ = try await bench.client.createMechanismFromUri(Sample.totp(policies: #"{"custom":{}}"#))
            guard let account = bench.client.getAllAccounts().first else { throw Unexpected() }
            return { try bench.client.lockAccount(account: account, policy: NamedPolicy(name: "custom")) }
        },
        Row(operation: "remove a push mechanism", changes: 2) { bench in
            try await bench.enrollBoth()
            _ = try bench.receive()
            let push = try bench.whole().push
            return { bench.client.removeMechanism(mechanism: push) }
        },
        Row(operation: "remove an account", changes: 5) { bench in
            try await bench.enrollBoth()
            _ = try bench.receive("1")
            _ = try bench.receive("2")
            let account = try bench.whole().account
            return { bench.client.removeAccount(account: account) }
        },
        Row(operation: "receive a message and a user id", changes: 2) { bench in
            let uid = try await bench.enrollBoth().push.mechanismUUID
            return {
                _ = try bench.client.handleMessage("1", try Sample.message(to: uid, userID: "user-7f3a"))
                return true
            }
        },
        Row(operation: "remove a notification", changes: 1) { bench in
            try await bench.enrollBoth()
            let notification = try bench.receive()
            return { bench.client.removeNotification(notification: notification) }
        },
        Row(operation: "register a token", changes: 1) { bench in
            {
                try bench.client.registerForRemoteNotifications("token-1")
                return true
            }
        },
    ]

    /// Every place at which every operation can fail; once having done nothing, and once having done what it denies.
    static let places: [(Row, Int, Bool)] = rows.flatMap { row in
        (1...row.changes).flatMap { [(row, $0, false), (row, $0, true)] }
    }

    @Test("in the middle of an operation has its changes put back", arguments: places)
    func undone(row: Row, place: Int, denies: Bool) async throws {
        let notebook = Notebook()
        let bench = try Bench(RecordingClient(notebook))
        let operation = try await row.prepare(bench)
        let before = notebook.content

        notebook.begin(.change(place, denies: denies))
        let succeeded = (try? await operation()) ?? false
        #expect(!succeeded)
        let after = notebook.content
        #expect(after.accounts == before.accounts)
        #expect(after.mechanisms == before.mechanisms)
        #expect(after.notifications == before.notifications)
        #expect(after.token == before.token)
        #expect(bench.client.lastStorageError != nil)

        // And it can be done after all.
        notebook.begin()
        let retried = try await operation()
        #expect(retried)
        #expect(notebook.changes == row.changes)
    }

    @Test("and cannot be undone either is said so")
    func notUndone() async throws {
        let notebook = Notebook()
        let bench = try Bench(RecordingClient(notebook))
        notebook.begin(.changesFrom(2))
        let error = await #expect(throws: FRAError.self) { try await bench.client.createMechanismFromUri(Sample.totp) }
        #expect(error?.code == 8_000_001)
        #expect(error?.description.contains("a part of it may be stored") == true)
    }

    @Test("to keep an answer that the server has taken is made up for by the next call")
    func answerNotStored() async throws {
        let notebook = Notebook()
        let bench = try Bench(RecordingClient(notebook))
        try await bench.enrollBoth()
        let notification = try bench.receive()
        notebook.begin(.change(1))
        await #expect(throws: FRAError.self) { try await notification.accept() }
        #expect(notification.isPending)
        let requests = bench.transport.requests.count

        notebook.begin()
        try await notification.accept()
        #expect(notification.isApproved)
        #expect(bench.transport.requests.count == requests)
        #expect(bench.client.getNotification(identifier: notification.identifier)?.isApproved == true)
    }
}
