import FRAuthenticator
import Foundation
import SignetCore
import SignetTesting
import Testing

/// Tests of a client where the iOS and Android SDKs differ (protocol/authenticator.md sections 7.3 and 7.5): it behaves as the
/// platform with which it was started.
@Suite("Differences between the iOS and Android SDKs")
struct PlatformTests {
    /// The listed accounts, mechanisms and notifications, and the accounts left after all mechanisms of one are removed.
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

    @Test("A client lists objects and removes empty accounts as the SDK of its platform does", arguments: expected.indices)
    func listsAndRemovesAsPlatformSDK(index: Int) async throws {
        let (platform, expected) = Self.expected[index]
        let recording = ClientRecording()
        let fixture = try ClientFixture(RecordingClient(recording), platform: platform)
        try fixture.client.registerForRemoteNotifications("token-1")
        for uri in [
            Sample.push, Sample.totp, Sample.totp.replacing("Harbor%20Bank", with: "Zed"),
            Sample.totp.replacing("Harbor%20Bank", with: "Anchor"),
        ] {
            _ = try await fixture.client.createMechanismFromUri(uri)
            fixture.clock.advance(by: 1)
        }
        for id in ["1", "2", "3"] {
            _ = try fixture.receive(id)
            fixture.clock.advance(by: 1)
        }
        #expect(fixture.client.getAllAccounts().map(\.issuer) == expected.issuers)
        let (account, totp, push) = try fixture.enrolled()
        #expect(account.mechanisms.map(\.type) == expected.types)
        #expect(fixture.client.getAllNotifications().map(\.messageId) == expected.messages)
        #expect(fixture.client.getAllNotifications(mechanism: push).map(\.messageId) == expected.messages)
        #expect(push.notifications.map(\.messageId) == expected.messages)

        #expect(fixture.client.removeMechanism(mechanism: push))
        #expect(fixture.client.getAccount(identifier: Sample.identifier) != nil, "the account still has a TOTP mechanism")
        #expect(fixture.client.removeMechanism(mechanism: totp))
        #expect(fixture.client.getAllAccounts().map(\.issuer) == expected.left)
        #expect(fixture.client.getAllNotifications().isEmpty)
    }
}
