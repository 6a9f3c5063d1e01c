import SignetAuthenticator
import SignetCore
import TestSupport
import Testing

@testable import PingOath

/// Credentials that the command line has stored in a vault that an app shares with it.
@Suite("Credentials of a shared vault")
struct SharedVaultTests {
    @Test("Codes of Steam and of ten digits, which the Ping SDK does not have, stay what they are when the app saves them")
    func keepsCodesOfSharedVault() async throws {
        let secret = Secret(try Base32.decode(Sample.oathKey))
        let ten = try #require(OTPDigits(10))
        for settings in [OATHSettings.steam(secret: secret), OATHSettings(secret: secret, digits: ten)] {
            let account = Account(id: AccountID(issuer: "X", accountName: "mira"), timeAdded: Sample.start)
            let stored = Mechanism(uid: "u", account: account.id, kind: .oath(settings), timeAdded: Sample.start)
            let credential = try OathCredential(EnrolledMechanism(mechanism: stored, account: account))
            #expect(try credential.mechanism(over: stored).kind == stored.kind)
        }
    }
}
