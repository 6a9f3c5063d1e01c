import Foundation
import SignetAuthenticator
import SignetCore
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@Suite("Accounts")
struct AccountTests {
    /// An account with all three kinds of mechanisms and a message, next to another account.
    private func enrollAll(_ fixture: AuthenticatorFixture) async throws -> (push: Mechanism, notification: PushNotification) {
        _ = try await fixture.authenticator.enroll(uri: Sample.totp)
        _ = try await fixture.authenticator.enroll(uri: Sample.hotp)
        _ = try await fixture.authenticator.enroll(uri: "otpauth://totp/Other:mira?secret=KDJ7CDBNBTGWZBQC7WMBG46RPBZ6L4UD")
        let account = try await fixture.authenticator.enroll(uri: Sample.push)
        let enrolled = account.mechanisms.first { $0.kindName == .push }
        let push = try #require(enrolled)
        return (push, try await fixture.authenticator.receive(try fixture.delivery(to: push)))
    }

    @Test("Renaming an account changes only its display names, and clearing them shows the enrolled names again")
    func renamesAccount() async throws {
        let fixture = AuthenticatorFixture()
        let before = try await fixture.authenticator.enroll(uri: Sample.combined).account
        let renamed = try await fixture.authenticator.rename(
            Sample.account, displayIssuer: "Harbour", displayAccountName: "")
        var expected = before
        expected.displayIssuer = "Harbour"
        #expect(renamed == expected)
        #expect(try fixture.state().accounts == [expected])
        _ = try await fixture.authenticator.rename(Sample.account, displayIssuer: nil, displayAccountName: nil)
        #expect(try fixture.state().accounts == [before])
        await #expect {
            try await fixture.authenticator.rename(Sample.account, displayIssuer: "a\u{202E}b", displayAccountName: nil)
        } throws: { code($0) == .invalidName }
        let unknownAccount = AccountID(issuer: "x", accountName: "y")
        await #expect {
            try await fixture.authenticator.rename(unknownAccount, displayIssuer: nil, displayAccountName: nil)
        } throws: { code($0) == .unknownAccount }
    }

    @Test("Removing an account's last mechanism removes the account unless the caller keeps it", arguments: StoreKind.allCases)
    func removesMechanism(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let fixture = AuthenticatorFixture(store: store)
            let (push, _) = try await enrollAll(fixture)
            #expect(try await fixture.authenticator.removeMechanism(push.uid))
            #expect(try await !fixture.authenticator.removeMechanism(push.uid))
            #expect(try fixture.state().notifications.isEmpty)
            for _ in 0..<2 {
                let mechanism = try #require(try await fixture.authenticator.account(Sample.account)?.mechanisms.first)
                try await fixture.authenticator.removeMechanism(mechanism.uid)
            }
            let other = try #require(try fixture.state().mechanisms.first)
            #expect(try fixture.state().accounts.map(\.id) == [other.account])
            try await fixture.authenticator.removeMechanism(other.uid, keepingAccount: true)
            #expect(try fixture.state().accounts.map(\.id) == [other.account])
            #expect(try fixture.state().mechanisms.isEmpty)
        }
    }

    @Test("An account stays when its last readable mechanism is removed and a damaged one is left")
    func keepsAccountWithDamagedMechanism() async throws {
        let inner = MemoryStore()
        let fixture = AuthenticatorFixture(store: AccountRecords(unsealed: inner))
        let totp = try await fixture.authenticator.enroll(uri: Sample.totp).mechanisms[0]
        _ = try await fixture.authenticator.enroll(uri: Sample.push)
        try inner.write { (records: any RecordWriter) throws(StoreError) in
            try records.put([1, 2, 3], RecordKey(.mechanism, totp.uid))
        }
        let uid = try #require(try fixture.state().mechanisms.first?.uid)
        #expect(try await fixture.authenticator.removeMechanism(uid))
        #expect(try fixture.state().accounts.count == 1)
        #expect(try await fixture.authenticator.damagedRecords().map(\.kind) == [.mechanism])
        // Removing the account removes everything in it.
        #expect(try await fixture.authenticator.removeAccount(Sample.account))
        #expect(try await fixture.authenticator.damagedRecords().isEmpty)
    }

    @Test("An account is manually locked and unlocked once each, and a repeated call fails with a specific error")
    func locksAndUnlocksAccount() async throws {
        let fixture = AuthenticatorFixture()
        _ = try await fixture.authenticator.enroll(uri: Sample.totp)
        await #expect { try await fixture.authenticator.unlock(Sample.account) } throws: { code($0) == .notLocked }
        await #expect { try await fixture.authenticator.lock(Sample.account, policy: "") } throws: { code($0) == .invalidPolicy }
        #expect(try await fixture.authenticator.lock(Sample.account, policy: "mine").lockingPolicy == "mine")
        await #expect { try await fixture.authenticator.lock(Sample.account, policy: "x") } throws: {
            code($0) == .alreadyLocked && ($0 as? AuthenticatorError)?.policy == "mine"
        }
        #expect(try await fixture.authenticator.accounts().map(\.lock) == [.manual(policy: "mine")])
        #expect(try await fixture.authenticator.unlock(Sample.account).lockingPolicy == nil)
        #expect(try await fixture.authenticator.accounts().map(\.lock) == [nil])
    }

    @Test(
        "A locked account gives no codes and no answers, but still takes messages and can be removed",
        arguments: [true, false])
    func lockedAccountRefusesUse(isManual: Bool) async throws {
        let isMet = Toggle()
        isMet.turnOn()
        let fixture = AuthenticatorFixture(policies: AccountPolicies([SwitchedPolicy(isMet: isMet)]))
        let policies = Sample.base64(#"{"switched":{}}"#)
        let hotp = try await fixture.authenticator.enroll(uri: Sample.hotp + "&policies=\(policies)").mechanisms[0]
        _ = try await fixture.authenticator.enroll(uri: Sample.totp)
        let push = try await fixture.authenticator.enroll(uri: Sample.push).mechanisms[1]
        let notification = try await fixture.authenticator.receive(try fixture.delivery(to: push))
        if isManual {
            try await fixture.authenticator.lock(Sample.account, policy: "switched")
        } else {
            isMet.turnOff()
        }
        let before = try fixture.state()
        let sent = fixture.transport.requests.count
        for mechanism in before.mechanisms where mechanism.oath != nil {
            await #expect { try await fixture.authenticator.code(for: mechanism.uid) } throws: { isLocked($0) }
        }
        await #expect { try await fixture.authenticator.resynchronize(hotp.uid, counter: 99) } throws: { isLocked($0) }
        await #expect { try await fixture.authenticator.approve(notification.id) } throws: { isLocked($0) }
        await #expect { try await fixture.authenticator.deny(notification.id) } throws: { isLocked($0) }
        await #expect {
            try await fixture.authenticator.rename(Sample.account, displayIssuer: "x", displayAccountName: nil)
        } throws: { isLocked($0) }
        #expect(try await fixture.authenticator.accounts()[0].lock?.policy == "switched")
        // Neither the refusals nor the reads have written anything.
        #expect(try fixture.state() == before)
        #expect(fixture.transport.requests.count == sent)

        _ = try await fixture.authenticator.receive(try fixture.delivery(to: push, id: "2"))
        #expect(try await fixture.authenticator.updateDeviceToken("token-2").map(\.isOutstanding) == [false])
        #expect(try await fixture.authenticator.removeNotification(notification.id))
        #expect(try await fixture.authenticator.removeMechanism(hotp.uid))
        #expect(try await fixture.authenticator.removeAccount(Sample.account))
    }

    private func isLocked(_ error: any Error) -> Bool {
        code(error) == .accountLocked && (error as? AuthenticatorError)?.policy == "switched"
    }

    @Test("A policy lock ends when the policy is met again, and a manual lock stays")
    func policyLockEnds() async throws {
        let isMet = Toggle()
        isMet.turnOn()
        let fixture = AuthenticatorFixture(policies: AccountPolicies([SwitchedPolicy(isMet: isMet)]))
        let uid = try await fixture.authenticator.enroll(uri: Sample.totp + "&policies=\(Sample.base64(#"{"switched":{}}"#))")
            .mechanisms[0].uid
        isMet.turnOff()
        #expect(try await fixture.authenticator.accounts().map(\.lock) == [.byPolicy("switched")])
        isMet.turnOn()
        #expect(try await fixture.authenticator.code(for: uid).digits == "867205")
        try await fixture.authenticator.lock(Sample.account, policy: "switched")
        await #expect { try await fixture.authenticator.code(for: uid) } throws: { isLocked($0) }
    }

    @Test(
        "An account whose policies this device does not meet is refused before any request",
        arguments: [Sample.totp, Sample.hotp, Sample.push, Sample.combined])
    func refusesEnrollmentOnPolicyViolation(uri: String) async throws {
        let fixture = AuthenticatorFixture(policies: AccountPolicies([SwitchedPolicy(isMet: Toggle())]))
        let text = uri + "&policies=\(Sample.base64(#"{"switched":{},"tag":"a>b?"}"#))"
        await #expect { try await fixture.authenticator.enroll(uri: text) } throws: {
            code($0) == .policyViolation && ($0 as? AuthenticatorError)?.policy == "switched"
        }
        #expect(fixture.transport.requests.isEmpty)
        #expect(try fixture.state() == AuthenticatorFixture().state())
    }

    @Test("Accounts are listed in the order that the caller asks for")
    func sortsAccounts() async throws {
        let fixture = AuthenticatorFixture()
        for (issuer, name) in [("b", "x"), ("a", "z"), ("C", "y"), ("a", "w")] {
            _ = try await fixture.authenticator.enroll(uri: "otpauth://totp/\(issuer):\(name)?secret=KDJ7CDBNBTGWZBQC7WMBG46R")
            fixture.clock.advance(by: 1)
        }
        _ = try await fixture.authenticator.rename(
            AccountID(issuer: "a", accountName: "z"), displayIssuer: "zebra", displayAccountName: nil)
        func names(_ order: AccountOrder) async throws -> [String] {
            try await fixture.authenticator.accounts(sortedBy: order).map { $0.account.id.legacyIdentifier }
        }
        #expect(try await names(.timeAdded) == ["b-x", "a-z", "C-y", "a-w"])
        #expect(try await names(.issuer) == ["C-y", "a-w", "a-z", "b-x"])
        #expect(try await names(.shownName) == ["a-w", "b-x", "C-y", "a-z"])
    }
}

/// A policy that a test turns on and off.
struct SwitchedPolicy: AccountPolicy {
    let name = "switched"
    let isMet: Toggle
    func isMet(_ parameters: JSONValue) async -> Bool { isMet.isOn }
}
