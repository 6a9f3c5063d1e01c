import Foundation
import SignetAuthenticator
import SignetCore
import SignetStorage
import SignetTesting
import SignetTransfer
import TestSupport
import Testing

@Suite("Keychain items of the ForgeRock SDK for iOS and of Ping's modules")
struct KeychainItemsTests {
    private static let old = AccountID(issuer: "Old Bank", accountName: "joe")
    private static let quay = AccountID(issuer: "Quay", accountName: "ada")
    private static let uid = "7C2B9E1A-0000-4000-8000-000000000001"

    @Test("Accounts, mechanisms and messages are read as both SDKs archive them")
    func readsAccountsOfBothSDKs() throws {
        let content = try LegacyAccounts.read(LegacyArchive.fixture())
        #expect(content.accounts.map(\.id) == [TransferFixture.bank, Self.old, Self.quay])
        #expect(content.skipped.isEmpty)
        #expect(content.leftOut == ["device token": 2])

        let bank = try #require(content.accounts.first)
        #expect(bank.displayIssuer == nil && bank.displayAccountName == "mira p." && bank.backgroundColor == "#336699")
        #expect(bank.policies["deviceTampering"]?["score"] == .number(0.8) && bank.lockingPolicy == nil)
        #expect(bank.timeAdded == Date(timeIntervalSince1970: 1_735_689_600.25))
        // The stored counter is that of the next code, unlike Android's.
        #expect(bank.mechanisms.first?.kind == (try TransferFixture.hotp(counter: 7)))
        let push = try #require(bank.mechanisms.last)
        #expect(push.uid == Self.uid && push.userID == "user-7f3a" && push.resourceID == "r-1")
        guard case .push(let settings) = push.kind else { throw AuthenticatorTestError.noPush }
        #expect(settings.secret.count == 32 && settings.loadBalancerCookie == "amlbcookie=01")
        #expect(settings.registrationEndpoint.url.hasSuffix("?_action=register"))

        #expect(content.accounts[1].lockingPolicy == "deviceTampering")
        #expect(content.kinds(of: Self.old) == [try TransferFixture.totp(TransferFixture.secret, .sha256, digits: 8, period: 60)])
    }

    @Test("The credentials of Ping's modules are one account, with their times, secrets and policies")
    func readsPingCredentials() throws {
        let content = try LegacyAccounts.read(LegacyArchive.fixture())
        let quay = try #require(content.accounts.last)
        #expect(quay.displayIssuer == "The Quay" && quay.policies["deviceTampering"]?["score"] == .number(0.5))
        #expect(quay.mechanisms.map(\.kindName) == [.totp, .hotp, .push])
        #expect(quay.mechanisms.map(\.userID) == ["u-9", nil, "u-9"])
        #expect(quay.mechanisms.map(\.resourceID) == [nil, nil, "r-9"])
        #expect(quay.mechanisms[0].kind == (try TransferFixture.totp(TransferFixture.other, .sha512)))
        #expect(quay.mechanisms[0].timeAdded == Date(timeIntervalSinceReferenceDate: 757_382_400.5))
        #expect(quay.mechanisms[2].timeAdded == Date(timeIntervalSince1970: 1_735_689_602))
        guard case .oath(let hotp) = quay.mechanisms[1].kind, case .push(let push) = quay.mechanisms[2].kind else {
            throw AuthenticatorTestError.noPush
        }
        #expect(hotp.factor == .counter(next: 41) && hotp.digits == .eight)
        #expect(push.authenticationEndpoint.url == "https://am.example.test/am/json/push/sns/message?_action=authenticate")
    }

    @Test("Messages keep the time at which they were sent and the decision")
    func readsPushMessagesOfKeychain() throws {
        let messages = try LegacyAccounts.read(LegacyArchive.fixture()).notifications
        #expect(messages.map(\.messageID) == ["AUTHENTICATE:1", "AUTHENTICATE:9"])
        #expect(messages.map(\.decision) == [.approved, nil])
        #expect(messages[0].message.kind == .number(choices: [34, 56, 82]))
        #expect(messages[1].message.loadBalancerCookie == "amlbcookie=02")
        #expect(messages[1].receivedAt == Date(timeIntervalSince1970: 1_735_689_660))
    }

    @Test("A single archive of objects is read too, with the lock of each account")
    func readsArchivedObjects() throws {
        let content = try ImportFormat.keychain.read(TransferFixture.bytes("keyed-objects.plist"))
        #expect(content.accounts.map(\.id) == [TransferFixture.bank, Self.old])
        #expect(content.accounts.map(\.lockingPolicy) == [nil, "deviceTampering"])
        #expect(content.notifications.map(\.messageID) == ["AUTHENTICATE:1"])
        #expect(content.skipped.isEmpty)
    }

    @Test("A damaged or sealed item is skipped with a reason, and all others are read", arguments: [true, false])
    func skipsDamagedItem(isSealed: Bool) throws {
        let name = "Harbor Bank-mira-hotp"
        let store = ChangedLegacyStore(try LegacyArchive.fixture()) { _, item in
            item.name != name ? item.content : isSealed ? nil : item.content?.dropLast(3)
        }
        let content = try LegacyAccounts.read(store)
        #expect(content.mechanismCount == 5)
        #expect(content.skipped.rows == [["item of the ForgeRock SDK", "mechanism", "invalid"]])
        let details = content.skipped.map(\.detail).joined()
        #expect(!details.contains(TransferFixture.secret))
    }

    @Test("No mechanism is taken over without the lock of its account when the account's own item is damaged")
    func refusesMechanismsOfDamagedAccount() throws {
        let store = ChangedLegacyStore(try LegacyArchive.fixture()) { _, item in item.name == "Old Bank-joe" ? nil : item.content
        }
        let content = try LegacyAccounts.read(store)
        #expect(content.accounts.flatMap(\.mechanisms).count == 5)
        #expect(Set(content.skipped.map(\.type)) == ["account", "totp"])
        #expect(content.kinds(of: Self.old)?.isEmpty ?? true)
    }

    @Test("A credential of PingOath without its secret, and one that is not JSON, are skipped")
    func skipsPingCredentialWithoutSecret() throws {
        let store = ChangedLegacyStore(try LegacyArchive.fixture()) { service, item in
            switch service {
            case "com.pingidentity.oath.secrets": nil
            case "com.pingidentity.push.credentials": Data("{".utf8)
            default: item.content
            }
        }
        let content = try LegacyAccounts.read(store)
        #expect(content.kinds(of: Self.quay) == nil)
        #expect(content.skipped.map(\.reason) == [.invalid, .invalid, .invalid])
        #expect(content.notifications.count == 2)
    }

    @Test("An archived object of another class in the place of an account is refused")
    func refusesForeignObject() throws {
        let token = try #require(
            try LegacyArchive.fixture().items(
                of: "com.forgerock.ios.authenticator.keychainservice.local.pushDeviceToken", sealedBy: nil
            )
            .first?.content)
        let store = ChangedLegacyStore(try LegacyArchive.fixture()) { service, item in
            service.hasSuffix(".mechanism") ? token : item.content
        }
        let content = try LegacyAccounts.read(store)
        #expect(content.accounts.map(\.id).contains(TransferFixture.bank))
        #expect(content.skipped.map(\.type).prefix(3) == ["mechanism", "mechanism", "mechanism"])
    }

    @Test("An import of the items stores all of them at once, and a second import stores nothing")
    func importsOnce() async throws {
        let authenticator = AuthenticatorFixture().authenticator
        let content = try LegacyAccounts.read(LegacyArchive.fixture())
        let first = try await authenticator.importAccounts(content)
        #expect(first.imported.count == 6 && first.notificationCount == 2)
        let again = try await authenticator.importAccounts(content)
        #expect(again.imported.isEmpty && again.notificationCount == 0)
        #expect(Set(again.skipped.map(\.reason)) == [.duplicate])
    }

    @Test("A list without the members of items, with an item twice, or of other services is refused as a whole")
    func refusesForeignList() throws {
        let item: [String: Any] = ["svce": "com.pingidentity.oath", "acct": "1", "v_Data": Data("{}".utf8)]
        let other: [String: Any] = ["svce": "com.example", "acct": "1", "v_Data": Data("{}".utf8)]
        let lists: [Any] = [[item, item], [item, ["svce": "com.pingidentity.oath"]], [other], ["items": 1], "text", [Any]()]
        for list in lists {
            let bytes = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
            #expect(throws: ImportError.self, "\(list)") { try ImportFormat.keychain.read(Array(bytes)) }
        }
        let nested = try PropertyListSerialization.data(fromPropertyList: ["items": [item]], format: .binary, options: 0)
        #expect(try ImportFormat.keychain.read(Array(nested)).skipped.map(\.reason) == [.invalid])
    }

    @Test("A truncated file is refused, whatever the length", arguments: ["keychain.plist", "keyed-objects.plist"])
    func refusesTruncatedFile(name: String) throws {
        let bytes = try TransferFixture.bytes(name)
        for length in stride(from: 0, to: bytes.count - 1, by: 7) {
            #expect(throws: ImportError.self) { try ImportFormat.keychain.read(Array(bytes[..<length])) }
        }
    }

    @Test("A changed byte never ends the process, and no secret gets into a reason", arguments: [1, 0x10, 0x80, 0xFF] as [UInt8])
    func toleratesChangedBytes(mask: UInt8) throws {
        let bytes = try TransferFixture.bytes("keyed-objects.plist")
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= mask
            let content = try? ImportFormat.keychain.read(changed)
            let details = content?.skipped.map(\.detail).joined() ?? ""
            #expect(!details.contains(TransferFixture.secret))
        }
    }
}
