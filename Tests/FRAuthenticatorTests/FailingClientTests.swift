import FRAuthenticator
import Foundation
import SignetCore
import SignetNetwork
import SignetTesting
import Testing

/// Tests of a storage client that fails at several of its changes, or at the last. ``FamilyTests`` covers a failure at any other
/// change.
@Suite("Failures of an app's storage client")
struct FailingClientTests {
    @Test("The error says that a part may be stored when undoing a failed enrollment fails too")
    func reportsPartialEnrollmentWhenUndoFails() async throws {
        let notebook = Notebook()
        let bench = try Bench(RecordingClient(notebook))
        notebook.begin(.changesFrom(2))
        let error = await #expect(throws: FRAError.self) { try await bench.client.createMechanismFromUri(Sample.totp) }
        #expect(error?.code == 8_000_001)
        #expect(error?.description.contains("a part of it may be stored") == true)
    }

    @Test("A refused retry counts as approved after the response to the first answer was lost")
    func refusedRetryAfterLostResponseIsApproved() async throws {
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
        #expect(changes.isEmpty, "the storage client is not asked to change anything")
        try await notification.accept()
        #expect(notification.isApproved && answers.value == 2)
        // The server's refusal of the first answer to a message is an error.
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

    @Test("The next call that reads the notification stores an approval that could not be stored before", arguments: looks)
    func nextReadStoresUnstoredApproval(look: Look) async throws {
        let notebook = Notebook()
        let bench = try Bench(RecordingClient(notebook))
        let push = try await bench.enrollBoth().push
        let notification = try bench.receive()
        notebook.begin(.change(1))
        await #expect(throws: FRAError.self) { try await notification.accept() }

        // While the storage client fails, the call returns the pending notification.
        notebook.begin(.changesFrom(1))
        #expect(try look.find(bench, push)?.isPending == true)
        notebook.begin()
        #expect(try look.find(bench, push)?.isApproved == true)
        #expect(notebook.calls.contains("setNotification"))
        notebook.begin()
        #expect(try look.find(bench, push)?.isApproved == true)
        #expect(!notebook.calls.contains("setNotification"), "the approval is already stored")
    }

    @Test("A second approval stores the answer that could not be stored, without asking the server again")
    func secondApprovalStoresAnswerWithoutRequest() async throws {
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
