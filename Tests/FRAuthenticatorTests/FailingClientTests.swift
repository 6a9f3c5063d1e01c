import FRAuthenticator
import Foundation
import SignetCore
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
