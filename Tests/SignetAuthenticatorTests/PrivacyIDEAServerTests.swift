#if os(Linux)
import Foundation
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import TestSupport
import Testing

/// An authenticator, with a vault, at a real privacyIDEA.
private struct PrivacyIDEAUser: Sendable {
    let server: PrivacyIDEA
    let store: AccountRecords
    let clock: ManualClock
    let authenticator: Authenticator

    static func with(_ body: (PrivacyIDEAUser) async throws -> Void) async throws {
        try await PrivacyIDEA.with { server in
            try await TemporaryDirectory.with { directory in
                try await AsyncHTTPTransport().use { transport in
                    let store = try AccountRecords(VaultDirectory(path: directory.file("vault")).createVault(.keyFile))
                    try await body(PrivacyIDEAUser(server: server, store: store, transport: transport))
                }
            }
        }
    }

    private init(server: PrivacyIDEA, store: AccountRecords, transport: AsyncHTTPTransport) {
        self.server = server
        self.store = store
        clock = ManualClock(SystemWallClock().now)
        authenticator = Authenticator(
            store: store, transport: transport, device: PushDevice(token: "token-1", name: "Mira's laptop"), clock: clock)
    }

    func enroll() async throws -> Mechanism {
        try await authenticator.enroll(uri: try await server.invitation()).mechanisms[0]
    }

    func begin(_ mechanism: Mechanism) async throws -> PrivacyIDEA.Login { try await server.begin(mechanism.resourceID ?? "") }

    func listen(to mechanism: Mechanism, _ handle: @Sendable (PushStreamListener.Event) async throws -> Void) async throws {
        let listener = PushStreamListener(authenticator, mechanismUID: mechanism.uid, pollInterval: .milliseconds(50))
        do {
            try await listener.run(handle)
        } catch is StopListening {}
    }

    /// Listens until a message arrives that was not answered.
    func nextNotification(for mechanism: Mechanism) async throws -> PushNotification {
        let found = Mutex<PushNotification?>(nil)
        try await listen(to: mechanism) { event in
            switch event {
            case .received(let notification) where notification.decision == nil:
                found.withLock { $0 = notification }
                throw StopListening()
            case .refused(let error): throw error
            default: break
            }
        }
        let notification = found.withLock { $0 }
        return try #require(notification)
    }
}

@Suite(
    "Push logins at a real privacyIDEA", .serialized, .timeLimit(.minutes(4)),
    .enabled(if: PrivacyIDEA.isPossible, "privacyidea is not installed: scripts/setup test installs it"))
struct PrivacyIDEAServerTests {
    @Test("A device is registered once, approves and denies logins, and picks numbers and characters")
    func answersLogins() async throws {
        try await PrivacyIDEAUser.with { user in
            let uri = try await user.server.invitation()
            let account = try await user.authenticator.enroll(uri: uri)
            let mechanism = account.mechanisms[0]
            #expect(account.account.id.issuer == "privacyIDEA" && mechanism.push?.platform == PrivacyIDEAPlatform.name)
            #expect(mechanism.resourceID == account.account.id.accountName && mechanism.resourceID?.hasPrefix("PIPU") ?? false)

            // The enrollment is used up.
            let other = Authenticator(
                store: AccountRecords(unsealed: MemoryStore()), transport: AsyncHTTPTransport(),
                device: PushDevice(token: "token-2", name: "other"))
            await #expect { try await other.enroll(uri: uri) } throws: { code($0) == .refusedByServer }

            // Approve.
            let approved = try await user.begin(mechanism)
            #expect(try await user.server.state(of: approved) == "pending")
            let first = try await user.nextNotification(for: mechanism)
            #expect(first.message.kind == .tap && first.message.text == "Do you want to confirm the login?")
            _ = try await user.authenticator.approve(first.id)
            #expect(try await user.server.state(of: approved) == "accept")
            #expect(try await user.server.finish(approved))
            await #expect { try await user.authenticator.deny(first.id) } throws: { code($0) == .alreadyAnswered }

            // Deny.
            let denied = try await user.begin(mechanism)
            let second = try await user.nextNotification(for: mechanism)
            #expect(second.id != first.id)
            _ = try await user.authenticator.deny(second.id)
            #expect(try await user.server.state(of: denied) == "declined")
            #expect(try await user.server.finish(denied) == false)

            // Pick a number, then a letter: a wrong choice leaves the login open.
            for options in ["NUMERIC", "ALPHABETIC"] {
                try await user.server.setLoginPolicy("push_require_presence", "push_presence_options=\(options)")
                let login = try await user.begin(mechanism)
                let choice = try #require(login.choice)
                let message = try await user.nextNotification(for: mechanism)
                guard case .number(let numbers) = message.message.kind else { throw Unexpected() }
                #expect(numbers.count == 3)
                let right = try #require(Int(choice) ?? number(of: choice, in: message.message.text ?? ""))
                let others = numbers.filter { $0 != right }
                let wrong = try #require(others.first)
                await #expect { try await user.authenticator.approve(message.id, number: wrong) } throws: {
                    code($0) == .refusedByServer
                }
                #expect(try await user.server.state(of: login) == "pending")
                #expect(try await user.authenticator.approve(message.id, number: right).decision == .approved)
                #expect(try await user.server.finish(login))
            }
        }
    }

    /// Returns the number that stands for a letter in the text of a message, such as `2: B`.
    private func number(of letter: String, in text: String) -> Int? {
        let parts = text.split { $0 == "(" || $0 == ")" || $0 == "," }.map { $0.trimmingCharacters(in: .whitespaces) }
        return parts.first { $0.hasSuffix(": \(letter)") }.flatMap { Int($0.prefix { $0 != ":" }) }
    }

    @Test("A login that asks for a code at its page gets it after the approval")
    func namesCodeForLoginPage() async throws {
        try await PrivacyIDEAUser.with { user in
            let mechanism = try await user.enroll()
            try await user.server.setLoginPolicy("push_code_to_phone")
            let login = try await user.begin(mechanism)
            let message = try await user.nextNotification(for: mechanism)
            do {
                _ = try await user.authenticator.approve(message.id)
                Issue.record("the approval has no code")
            } catch let error as AuthenticatorError {
                #expect(error.code == .notSupported)
                let digits = error.reason.split { !$0.isNumber }.last.map(String.init) ?? ""
                #expect(try await user.server.finish(login, code: digits))
            }
        }
    }

    @Test("A listener survives a restart of the server, and ends when the token is removed")
    func survivesRestart() async throws {
        try await PrivacyIDEAUser.with { user in
            let mechanism = try await user.enroll()
            _ = try await user.begin(mechanism)
            let message = try await user.nextNotification(for: mechanism)
            await user.server.stop()
            await #expect(throws: TransportError.self) { try await user.authenticator.approve(message.id) }
            #expect(try await user.authenticator.notification(message.id).decision == nil)
            let events = DistinctItems()
            try await user.listen(to: mechanism) { event in
                switch event {
                case .disconnected:
                    guard events.all.isEmpty else { return }
                    _ = events.add("disconnected")
                    try await user.server.start()
                case .received(let notification) where notification.id == message.id:
                    _ = events.add("received")
                    throw StopListening()
                default: break
                }
            }
            #expect(events.all == ["disconnected", "received"])
            #expect(try await user.authenticator.approve(message.id).decision == .approved)

            try await user.server.removeToken(try #require(mechanism.resourceID))
            let listener = PushStreamListener(user.authenticator, mechanismUID: mechanism.uid)
            await #expect { try await listener.run { _ in } } throws: { code($0) == .refusedByServer }
        }
    }

    @Test("The server lists an answered login no more, so a second device of the same token learns that it has ended")
    func reportsAnswerOfSecondDevice() async throws {
        try await PrivacyIDEAUser.with { user in
            let mechanism = try await user.enroll()
            let login = try await user.begin(mechanism)
            let account = try #require(try await user.authenticator.accounts().first)
            let store = AccountRecords(unsealed: MemoryStore())
            try store.write { (records: any AccountWriter) throws(StoreError) in
                try records.save(account.account)
                try records.save(mechanism)
            }
            let second = Authenticator(
                store: store, transport: AsyncHTTPTransport(), device: PushDevice(token: "", name: ""), clock: user.clock)
            let listener = PushStreamListener(second, mechanismUID: mechanism.uid, pollInterval: .milliseconds(50))
            let ended = await listener.messagesEnded {
                let message = try await user.nextNotification(for: mechanism)
                _ = try await user.authenticator.approve(message.id)
            }
            #expect(try await second.notifications().map(\.id) == ended)
            #expect(try await user.server.finish(login))
        }
    }

    @Test("An approval of a login that the server no longer waits for is refused")
    func refusesExpiredLogin() async throws {
        try await PrivacyIDEAUser.with { user in
            let mechanism = try await user.enroll()
            try await user.server.setValidity(5)
            let login = try await user.begin(mechanism)
            let message = try await user.nextNotification(for: mechanism)
            // The server has its own clock, and does not tell when it gives a login up.
            try await Task.sleep(for: .seconds(6))
            await #expect { try await user.authenticator.approve(message.id) } throws: { code($0) == .refusedByServer }
            #expect(try await user.server.finish(login) == false)
        }
    }

    @Test("A machine whose clock is ten minutes wrong is still given its messages", arguments: [-600.0, 600])
    func correctsClock(difference: TimeInterval) async throws {
        try await PrivacyIDEAUser.with { user in
            user.clock.advance(by: difference)
            let mechanism = try await user.enroll()
            let login = try await user.begin(mechanism)
            // A new authenticator does not know yet how far its clock is from the server's.
            let fresh = Authenticator(
                store: user.store, transport: AsyncHTTPTransport(), device: PushDevice(token: "", name: ""), clock: user.clock)
            let arrived = DistinctItems()
            let listener = PushStreamListener(fresh, mechanismUID: mechanism.uid, pollInterval: .milliseconds(50))
            await #expect(throws: StopListening.self) {
                try await listener.run { event in
                    guard case .received(let notification) = event else { return }
                    _ = arrived.add(notification.id)
                    throw StopListening()
                }
            }
            _ = try await fresh.approve(try #require(arrived.all.first))
            #expect(try await user.server.finish(login))
        }
    }
}
#endif
