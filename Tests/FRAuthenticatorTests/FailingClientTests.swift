import FRAuthenticator
import FRCore
import Foundation
import SignetCore
import SignetNetwork
import SignetTesting
import Testing

/// Tests of a storage client that fails at several of its changes, or at the last.
///
/// ``FamilyTests`` covers a failure at any other change.
@Suite("Failures of an app's storage client")
struct FailingClientTests {
    @Test("The error says that a part may be stored when undoing a failed enrollment fails too")
    func reportsPartialEnrollmentWhenUndoFails() async throws {
        let recording = ClientRecording()
        let fixture = try ClientFixture(RecordingClient(recording))
        recording.begin(.changesFrom(2))
        let error = await #expect(throws: FRAError.self) { try await fixture.client.createMechanismFromUri(Sample.totp) }
        #expect(error?.code == 8_000_001)
        #expect(error?.description.contains("a part of it may be stored") == true)
    }

    @Test("A refused retry counts as approved after the response to the first answer was lost")
    func refusedRetryAfterLostResponseIsApproved() async throws {
        let answers = Tally()
        let recording = ClientRecording()
        let fixture = try ClientFixture(RecordingClient(recording)) { request async throws(TransportError) in
            guard request.url.hasSuffix("authenticate") else { return try await ClientFixture.accept(request) }
            answers.add()
            guard answers.value > 1 else { throw TransportError(.timeout, host: "am.example.test", "no answer in time") }
            return HTTPResponse(status: 400, body: Array("{}".utf8))
        }
        try await fixture.enrollBoth()
        let notification = try fixture.receive()
        let calls = recording.calls.count
        let error = await #expect(throws: NetworkError.self) { try await notification.accept() }
        #expect(error?.isRetryable == true && notification.isPending)
        let changes = recording.calls.dropFirst(calls).filter { $0.hasPrefix("set") }
        #expect(changes.isEmpty, "the storage client is not asked to change anything")
        try await notification.accept()
        #expect(notification.isApproved && answers.value == 2)
        // The server's refusal of the first answer to a message is an error.
        let other = try fixture.receive("AUTHENTICATE:2")
        await #expect(throws: NetworkError.self) { try await other.accept() }
        #expect(other.isPending)
    }

    struct Lookup: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let find: @Sendable (ClientFixture, PushMechanism) throws -> PushNotification?

        init(_ name: String, _ find: @escaping @Sendable (ClientFixture, PushMechanism) throws -> PushNotification?) {
            (testDescription, self.find) = (name, find)
        }
    }

    static let lookups: [Lookup] = [
        Lookup("getNotification") { fixture, push in
            fixture.client.getNotification(identifier: "\(push.mechanismUUID)-1735689600000")
        },
        Lookup("getAllNotifications()") { fixture, _ in fixture.client.getAllNotifications().first },
        Lookup("getAllNotifications(mechanism:)") { fixture, push in fixture.client.getAllNotifications(mechanism: push).first },
        Lookup("getAllAccounts") { fixture, _ in
            fixture.client.getAllAccounts()[0].mechanisms.compactMap { $0 as? PushMechanism }[0].notifications.first
        },
        Lookup("getAccount") { fixture, _ in try fixture.enrolled().push.notifications.first },
        Lookup("handleMessage") { fixture, push in
            try fixture.client.handleMessage("AUTHENTICATE:1", try Sample.message(to: push.mechanismUUID))
        },
    ]

    @Test("The next call that reads the notification stores an approval that could not be stored before", arguments: lookups)
    func nextReadStoresUnstoredApproval(lookup: Lookup) async throws {
        let recording = ClientRecording()
        let fixture = try ClientFixture(RecordingClient(recording))
        let push = try await fixture.enrollBoth().push
        let notification = try fixture.receive()
        recording.begin(.change(1))
        await #expect(throws: FRAError.self) { try await notification.accept() }

        // While the storage client fails, the call returns the pending notification.
        recording.begin(.changesFrom(1))
        #expect(try lookup.find(fixture, push)?.isPending == true)
        recording.begin()
        #expect(try lookup.find(fixture, push)?.isApproved == true)
        #expect(recording.calls.contains("setNotification"))
        recording.begin()
        #expect(try lookup.find(fixture, push)?.isApproved == true)
        #expect(!recording.calls.contains("setNotification"), "the approval is already stored")
    }

    @Test("A second approval stores the answer that could not be stored, without asking the server again")
    func secondApprovalStoresAnswerWithoutRequest() async throws {
        let recording = ClientRecording()
        let fixture = try ClientFixture(RecordingClient(recording))
        try await fixture.enrollBoth()
        let notification = try fixture.receive()
        recording.begin(.change(1))
        await #expect(throws: FRAError.self) { try await notification.accept() }
        #expect(notification.isPending)
        let requests = fixture.transport.requests.count

        recording.begin()
        try await notification.accept()
        #expect(notification.isApproved)
        #expect(fixture.transport.requests.count == requests)
        #expect(fixture.client.getNotification(identifier: notification.identifier)?.isApproved == true)
    }
}
