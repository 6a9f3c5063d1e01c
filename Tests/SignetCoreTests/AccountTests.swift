import SignetCore
import Testing

@Suite("Accounts and mechanisms")
struct AccountTests {
    @Test("Two account ids that are equal when joined are different ids")
    func accountIDIsAPair() {
        let one = AccountID(issuer: "a-b", accountName: "c")
        let other = AccountID(issuer: "a", accountName: "b-c")
        #expect(one.legacyIdentifier == other.legacyIdentifier)
        #expect(one != other)
        #expect(Set([one, other]).count == 2)
    }

    @Test("A mechanism's kind name and settings match its kind")
    func mechanismKinds() throws {
        let id = AccountID(issuer: "Harbor Bank", accountName: "mira")
        func mechanism(_ kind: Mechanism.Kind) -> Mechanism {
            Mechanism(uid: Sample.mechanismUID, account: id, kind: kind, timeAdded: Sample.newYear2025)
        }
        let endpoint = try Endpoint("https://am.example.test/push")
        let push = PushSettings(secret: try Sample.pushSecret, registrationEndpoint: endpoint, authenticationEndpoint: endpoint)
        let clock = OATHSettings(secret: try Sample.oathSecret)
        let counter = OATHSettings(secret: try Sample.oathSecret, factor: .counter(next: 0))

        #expect(mechanism(.oath(clock)).kindName == .totp)
        #expect(mechanism(.oath(counter)).kindName == .hotp)
        #expect(mechanism(.push(push)).kindName == .push)
        #expect(mechanism(.oath(clock)).oath == clock && mechanism(.oath(clock)).push == nil)
        #expect(mechanism(.push(push)).push == push && mechanism(.push(push)).oath == nil)
    }
}
