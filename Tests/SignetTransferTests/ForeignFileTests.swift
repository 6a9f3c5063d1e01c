import Foundation
import SignetAuthenticator
import SignetCore
import SignetTransfer
import Testing

@Suite("Export files of other programs")
struct ForeignFileTests {
    private static let account =
        #""issuer":"Harbor Bank","accountName":"mira","displayIssuer":"{Mine}","policies":{"deviceTampering":{"score":0.8}}"#
    private static let code =
        #"{"mechanismUID":"u-1","issuer":"Harbor Bank","accountName":"mira","type":"otpauth","oathType":"totp","secret":"JBSWY3DPEHPK3PXP"}"#
    private static let push =
        #""mechanismUID":"u-2","issuer":"Harbor Bank","accountName":"mira","type":"pushauth","secret":"wh4BisPebv+FgKLqSuSZH/CS4ZuWe9A0P+pYsvNcd8U=","registrationEndpoint":"https://am.example.test/r","authenticationEndpoint":"https://am.example.test/a""#

    private static func message(_ members: String = "") -> String {
        #"{"mechanismUID":"u-2","messageId":"1","challenge":"AAAA","timeAdded":1735689600000,"customPayload":"{\"a\":1}"\#(members)}"#
    }

    /// Returns JSON as the text of a JSON string.
    private static func quoted(_ json: String) -> String { JSON.text(of: .string(json)) }

    private static func read(_ file: String) throws -> ImportContent {
        try ImportFormat.forgerock.read(Array(file.utf8))
    }

    /// The same account, two mechanisms and a message, nested in the ways that apps use.
    static let wrappings: [String] = [
        "[{\(account)},\(code),{\(push)},\(message())]",
        #"[{\#(account),"mechanisms":[\#(code),{\#(push),"notifications":[\#(message())]}]}]"#,
        #"{\#(account),"mechanisms":{"totp":\#(code),"push":{\#(push)}},"inbox":[\#(message())]}"#,
        #"{\#(account),"mechanisms":\#(quoted("[\(code),{\(push)}]")),"inbox":\#(quoted(" [\(message())]"))}"#,
        #"{"accounts":\#(quoted("[{\(account)}]")),"all":[\#(quoted("[\(code),{\(push)}]"))],"m":\#(quoted(message()))}"#,
    ]

    @Test(
        "ForgeRock SDKs: An account, its mechanisms and its messages are found at any nesting", arguments: wrappings)
    func findsNestedForgeRockObjects(file: String) throws {
        let content = try Self.read(file)
        #expect(content.accounts.map(\.id) == [TransferFixture.bank])
        #expect(content.accounts.first?.displayIssuer == "{Mine}")
        #expect(Set(content.accounts.flatMap(\.mechanisms).map(\.kindName)) == [.totp, .push])
        #expect(content.accounts.first?.policies["deviceTampering"]?["score"] == .number(0.8))
        #expect(content.notifications.map(\.messageID) == ["1"])
        #expect(content.skipped.isEmpty && content.leftOut.isEmpty)
    }

    @Test("ForgeRock SDKs: An entry that is nested too deep or broken inside a string is reported")
    func reportsUnreadableForgeRockEntries() throws {
        let deep = String(repeating: "[", count: 9) + Self.code + String(repeating: "]", count: 9)
        for file in [
            "[\(Self.code),\(deep)]", "[\(Self.code),\(Self.quoted(String(Self.code.dropLast(3))))]",
            "[\(Self.code),{\"a\":\"{\"}]",
        ] {
            let content = try Self.read(file)
            #expect(content.accounts.flatMap(\.mechanisms).count == 1)
            #expect(content.skipped.rows == [["entry without a name", "unknown", "invalid"]], "\(file)")
        }
        #expect(try Self.read("[\(Self.code),\"[a note]\"]").skipped.isEmpty, "plain text may begin with a bracket")
    }

    @Test(
        "ForgeRock SDKs: A message with an invalid cookie or lifetime is reported and not imported",
        arguments: [
            (#","amlbCookie":"no cookie""#, "amlbCookie"), (#","amlbCookie":7"#, "amlbCookie"), (#","ttl":"soon""#, "ttl"),
            (#","ttl":1.5"#, "ttl"), (#","ttl":0"#, "t "),
        ])
    func reportsInvalidForgeRockMessage(members: String, name: String) throws {
        let content = try Self.read("[{\(Self.push)},\(Self.message(members))]")
        #expect(content.notifications.isEmpty)
        #expect(content.skipped.rows == [["notification", "notification", "invalid"]])
        #expect(content.skipped.first?.detail.contains(name) == true)
    }

    @Test("ForgeRock SDKs: A message with a missing or null cookie or lifetime is imported")
    func importsMessageWithoutCookieOrLifetime() throws {
        for members in [#","amlbCookie":"","ttl":60"#, #","amlbCookie":null,"ttl":null"#, #","amlbCookie":"a=b","ttl":"60""#] {
            let message = try #require(try Self.read("[{\(Self.push)},\(Self.message(members))]").notifications.first?.message)
            #expect(message.timeToLive == (members.contains("60") ? 60 : 120))
            #expect(message.loadBalancerCookie == (members.contains("a=b") ? "a=b" : nil))
        }
    }

    @Test("ForgeRock SDKs: Each JSON test vector is imported as SignetCore reads it")
    func readsVectors() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../SignetCoreTests/Vectors/forgerock.json")
        let vectors = try JSON.value(of: Data(contentsOf: file))
        for row in try ["accounts", "mechanisms", "notifications"].flatMap({ try #require(vectors[$0]?.array) }) {
            let json = try #require(row["json"])
            let content = try? Self.read(JSON.text(of: .array([json, .object(["tokenId": .string("other")])])))
            let members = JSONMembers(try #require(json.object))
            let name = row["name"]?.string ?? ""
            // A file recognizes a mechanism by its identifier. Without one the record is an account.
            if row["refuses"] == .string("mechanismUID") { continue }
            if row["refuses"] != nil {
                #expect(content?.accounts.isEmpty ?? true, "\(name)")
                #expect(content?.notifications.isEmpty ?? true, "\(name)")
                #expect(content?.skipped.isEmpty == false, "\(name)")
            } else if let notification = content?.notifications.first {
                #expect(notification == (try PushNotification(forgeRock: members)), "\(name)")
            } else if let mechanism = content?.accounts.first?.mechanisms.first {
                let wanted = try Mechanism(forgeRock: members, policy: .secure)
                #expect(mechanism.kind == wanted.kind && mechanism.uid == wanted.uid, "\(name)")
            } else {
                let (account, wanted) = (content?.accounts.first, try Account(forgeRock: members))
                #expect(account?.id == wanted.id && account?.displayIssuer == wanted.displayIssuer, "\(name)")
                #expect(account?.lockingPolicy == wanted.lockingPolicy && account?.policies == wanted.policies, "\(name)")
                #expect(account?.backgroundColor == wanted.backgroundColor, "\(name)")
            }
        }
    }

    // MARK: 2FAS

    private static func services(_ entries: [(name: String, issuer: String, secret: String)]) throws -> ImportContent {
        let services = entries.map {
            #"{"name":"\#($0.name)","secret":"\#($0.secret)","otp":{"issuer":"\#($0.issuer)","account":"mira","tokenType":"TOTP"}}"#
        }
        return try ImportFormat.twoFAS.read(
            Array(#"{"schemaVersion":4,"services":[\#(services.joined(separator: ","))]}"#.utf8))
    }

    @Test(
        "2FAS: A secret that can't be used is reported with its cause and without its content",
        arguments: [("", "is empty"), ("MFRA!XYZ", "can't be decoded: not base32: the character at offset 4 does not fit")])
    func reportsUnusableSecret(secret: String, cause: String) throws {
        let content = try Self.services([("Bank", "Harbor Bank", secret)])
        #expect(content.skipped.map(\.detail) == ["secret \(cause)"])
    }

    @Test("2FAS: A service without a secret is reported as such")
    func reportsMissingSecret() throws {
        let service = #"{"name":"Bank","otp":{"issuer":"Harbor Bank","account":"mira","tokenType":"TOTP"}}"#
        let content = try ImportFormat.twoFAS.read(Array(#"{"schemaVersion":4,"services":[\#(service)]}"#.utf8))
        #expect(content.skipped.map(\.detail) == ["secret is missing"])
    }

    @Test("2FAS: The name shown to the user becomes the display issuer if it differs")
    func importsTwoFASDisplayNames() throws {
        let (one, two) = (TransferFixture.secret, TransferFixture.other)
        let content = try Self.services([
            ("My bank", "Harbor Bank", one), ("Mail", "Mail", two), ("", "Bell", two), ("a\\u202Eb", "Odd", two),
        ])
        #expect(content.accounts.map(\.id.issuer) == ["Harbor Bank", "Mail", "Bell", "Odd"])
        #expect(content.accounts.map(\.displayIssuer) == ["My bank", nil, nil, nil])
        #expect(content.leftOut == ["name": 1], "an unsafe name is left out")
        #expect(content.skipped.isEmpty)
    }

    @Test("2FAS: Entries that differ only in their names are imported under these names")
    func importsTwoFASEntriesByName() throws {
        let (one, two) = (TransferFixture.secret, TransferFixture.other)
        let content = try Self.services([
            ("Work", "Mail", one), ("Home", "Mail", two), ("Same", "Bell", one), ("Same", "Bell", two),
        ])
        #expect(content.accounts.map(\.id.issuer) == ["Work", "Home", "Bell"])
        #expect(content.accounts.map(\.displayIssuer) == [nil, nil, "Same"])
        #expect(content.skipped.map(\.reason) == [.nameTaken], "two entries with the same name")
    }
}
