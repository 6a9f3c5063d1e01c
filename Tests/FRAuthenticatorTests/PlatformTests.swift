import FRAuthenticator
import Foundation
import SignetCore
import SignetTesting
import Testing

/// Where the two original SDKs differ (protocol/authenticator.md sections 7.3 and 7.5), a client is as the form in which it was
/// started.
@Suite("A client in the form of a platform")
struct PlatformTests {
    /// Accounts and their mechanisms, notifications, and the accounts that are left when push is gone and when all is.
    struct Expected {
        let issuers: [String]
        let types: [String]
        let messages: [String]
        let left: [String]
    }

    static let expected: [(LegacySettings.Platform, Expected)] = [
        (
            .iOS,
            Expected(
                issuers: ["Harbor Bank", "Zed", "Anchor"], types: ["push", "totp"], messages: ["1", "2", "3"],
                left: ["Harbor Bank", "Zed", "Anchor"])
        ),
        (
            .android,
            Expected(
                issuers: ["Anchor", "Harbor Bank", "Zed"], types: ["totp", "push"], messages: ["3", "2", "1"],
                left: ["Anchor", "Zed"])
        ),
    ]

    @Test("lists in its order, and ends accounts as it does", arguments: expected.indices)
    func habits(index: Int) async throws {
        let (platform, expected) = Self.expected[index]
        let notebook = Notebook()
        let bench = try Bench(RecordingClient(notebook), platform: platform)
        try bench.client.registerForRemoteNotifications("token-1")
        for uri in [
            Sample.push, Sample.totp, Sample.totp.replacing("Harbor%20Bank", with: "Zed"),
            Sample.totp.replacing("Harbor%20Bank", with: "Anchor"),
        ] {
            _ = try await bench.client.createMechanismFromUri(uri)
            bench.clock.advance(by: 1)
        }
        for id in ["1", "2", "3"] {
            _ = try bench.receive(id)
            bench.clock.advance(by: 1)
        }
        #expect(bench.client.getAllAccounts().map(\.issuer) == expected.issuers)
        let (account, totp, push) = try bench.whole()
        #expect(account.mechanisms.map(\.type) == expected.types)
        #expect(bench.client.getAllNotifications().map(\.messageId) == expected.messages)
        #expect(bench.client.getAllNotifications(mechanism: push).map(\.messageId) == expected.messages)
        #expect(push.notifications.map(\.messageId) == expected.messages)

        #expect(bench.client.removeMechanism(mechanism: push))
        #expect(bench.client.getAccount(identifier: Sample.identifier) != nil, "it has codes")
        #expect(bench.client.removeMechanism(mechanism: totp))
        #expect(bench.client.getAllAccounts().map(\.issuer) == expected.left)
        #expect(bench.client.getAllNotifications().isEmpty)
    }
}
