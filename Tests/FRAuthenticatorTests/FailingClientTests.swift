import FRAuthenticator
import Foundation
import SignetCore
import SignetNetwork
import SignetTesting
import Testing

/// A storage client that fails at several of its changes, or at the last. One that fails at any other is among the cases of
/// ``FamilyTests``.
@Suite("A storage client that fails")
struct FailingClientTests {
    @Test("and cannot be undone either is said so")
    func notUndone() async throws {
        let notebook = Notebook()
        let bench = try Bench(RecordingClient(notebook))
        notebook.begin(.changesFrom(2))
        let error = await #expect(throws: FRAError.self) { try await bench.client.createMechanismFromUri(Sample.totp) }
        #expect(error?.code == 8_000_001)
        #expect(error?.description.contains("a part of it may be stored") == true)
    }

    @Test(
        "is not needed to know that a server which refuses an answer the second time has taken the first, whose response was lost"
    )
    func lostResponse() async throws {
        let answers = Tally()
        let notebook = Notebook()
        let bench = try Bench(RecordingClient(notebook)) { request async throws(TransportError) in
            guard request.url.hasSuffix("authenticate") else { return try await Bench.accept(request) }
            answers.add()
            guard answers.value > 1 else { throw TransportError(.timeout, host: "am.example.test", "no answer in time") }
            return HTTPResponse(status: 400, body: Array("{}".utf8))
        }
        try await bench.enrollBoth()
        let notification = try bench.receive()
        let calls = notebook.calls.count
        let error = await #expect(throws: NetworkError.self) { try await notification.accept() }
        #expect(error?.isRetryable == true && notification.isPending)
        let changes = notebook.calls.dropFirst(calls).filter { $0.hasPrefix("set") }
        #expect(changes.isEmpty, "the client is told nothing of it")
        try await notification.accept()
        #expect(notification.isApproved && answers.value == 2)
        // A refusal of a message that was never answered is one.
        let other = try bench.receive("AUTHENTICATE:2")
        await #expect(throws: NetworkError.self) { try await other.accept() }
        #expect(other.isPending)
    }

    struct Look: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let find: @Sendable (Bench, PushMechanism) throws -> PushNotification?

        init(_ name: String, _ find: @escaping @Sendable (Bench, PushMechanism) throws -> PushNotification?) {
            (testDescription, self.find) = (name, find)
        }
    }

    static let looks: [Look] = [
        Look("getNotification") { bench, push in
            bench.client.getNotification(
                identifier: SignetCore.PushNotification.id(mechanismUID: push.mechanismUUID, messageID: "AUTHENTICATE:1"))
        },
        Look("getAllNotifications()") { bench, _ in bench.client.getAllNotifications().first },
        Look("getAllNotifications(mechanism:)") { bench, push in bench.client.getAllNotifications(mechanism: push).first },
        Look("getAllAccounts") { bench, _ in
            bench.client.getAllAccounts()[0].mechanisms.compactMap { $0 as? PushMechanism }[0].notifications.first
        },
        Look("getAccount") { bench, _ in try bench.whole().push.notifications.first },
        Look("handleMessage") { bench, push in
            try bench.client.handleMessage("AUTHENTICATE:1", try Sample.message(to: push.mechanismUUID))
        },
    ]

    @Test("to keep an answer that the server has taken is made up for by whatever looks at it next", arguments: looks)
    func answerSeenNext(look: Look) async throws {
        let notebook = Notebook()
        let bench = try Bench(RecordingClient(notebook))
        let push = try await bench.enrollBoth().push
        let notification = try bench.receive()
        notebook.begin(.change(1))
        await #expect(throws: FRAError.self) { try await notification.accept() }

        // As long as the client fails, the call answers as ever.
        notebook.begin(.changesFrom(1))
        #expect(try look.find(bench, push)?.isPending == true)
        notebook.begin()
        #expect(try look.find(bench, push)?.isApproved == true)
        #expect(notebook.calls.contains("setNotification"))
        notebook.begin()
        #expect(try look.find(bench, push)?.isApproved == true)
        #expect(!notebook.calls.contains("setNotification"), "nothing waits any more")
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
