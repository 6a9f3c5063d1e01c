import SignetCore
import SignetTransfer
import Testing

/// Files of the Credential Exchange Format, written after its specification (Proposed Standard, August 14, 2025).
@Suite("FIDO Credential Exchange Format")
struct CXFTests {
    /// Returns a file with items.
    private static func file(_ items: String, collections: String = "", version: String = "1") -> [UInt8] {
        let text = """
            {"version":{"major":\(version),"minor":0},"exporterRpId":"exporter.example.test","exporterDisplayName":"Exporter",
            "timestamp":1735689600,"accounts":[{"id":"YQ","username":"mira","email":"mira@example.test","collections":[\(collections)],
            "items":[\(items)]}]}
            """
        return Array(text.utf8)
    }

    private static func item(_ credentials: String, members: String = "") -> String {
        #"{"id":"aQ","creationAt":1735689600,"title":"Harbor Bank"\#(members),"credentials":[\#(credentials)]}"#
    }

    private static func totp(_ members: String, secret: String = TransferFixture.secret) -> String {
        #"{"type":"totp","secret":"\#(secret)"\#(members)}"#
    }

    private static let whole =
        #","period":60,"digits":8,"algorithm":"sha256","username":"mira","issuer":"Harbor Bank""#

    @Test("A TOTP credential is imported with its settings, its note, its tags and its collections")
    func readsCredential() throws {
        let note = #"{"type":"note","content":{"fieldType":"string","value":"by post"}}"#
        let collections =
            #"{"id":"Yw","title":"Money","items":[{"item":"aQ"}],"subCollections":[{"id":"ZA","title":"Banks","items":[{"item":"aQ"}]}]}"#
        let item = Self.item("\(Self.totp(Self.whole)),\(note)", members: #","tags":["daily"]"#)
        let bytes = Self.file(item, collections: collections)
        #expect(ImportFormat.detect(bytes) == .cxf)
        let content = try ImportFormat.read(bytes)
        #expect(
            content.kinds(of: TransferFixture.bank) == [
                try TransferFixture.totp(TransferFixture.secret, .sha256, digits: 8, period: 60)
            ])
        let account = content.accounts.first
        #expect(account?.groups == ["Money", "Banks", "daily"] && account?.note?.text == "by post")
        #expect(account?.mechanisms.map(\.assumesSHA1) == [false])
        #expect(content.skipped.isEmpty && content.leftOut.isEmpty)
    }

    @Test("A credential without issuer and user name takes them from its item, and other credentials are counted")
    func takesNamesOfItem() throws {
        let login =
            #"{"type":"basic-auth","username":{"fieldType":"string","value":"mira"},"password":{"fieldType":"concealed-string","value":"p"}}"#
        let others = #"{"type":"passkey"},{"type":"note","content":{"value":"x"}},{"type":"new-kind"},{}"#
        let items = [
            Self.item("\(login),\(Self.totp(#","period":30,"digits":6,"algorithm":"sha1""#))"),
            Self.item(others), Self.item(Self.totp("", secret: TransferFixture.other), members: #","subtitle":"noa""#),
        ]
        let content = try ImportFormat.read(Self.file(items.joined(separator: ",")))
        let noa = AccountID(issuer: "Harbor Bank", accountName: "noa")
        #expect(content.accounts.map(\.id) == [TransferFixture.bank, noa])
        #expect(content.accounts.flatMap(\.mechanisms).map(\.assumesSHA1) == [false, true])
        #expect(content.leftOut == ["password": 1, "passkey": 1, "note": 1, "unknown credential": 2])
    }

    @Test(
        "A TOTP credential that cannot be used is reported",
        arguments: [
            (#","algorithm":"sha3""#, SkippedEntry.Reason.unsupportedAlgorithm), (#","digits":12"#, .unsupportedDigits),
            (#","digits":"x""#, .invalid), (#","period":0"#, .invalid), (#","period":[]"#, .invalid),
            (#","algorithm":1"#, .invalid),
        ])
    func reportsCredential(members: String, reason: SkippedEntry.Reason) throws {
        let content = try ImportFormat.read(Self.file(Self.item(Self.totp(#","username":"mira""# + members))))
        #expect(content.accounts.isEmpty && content.skipped.map(\.reason) == [reason])
        #expect(content.skipped.map(\.name) == ["Harbor Bank: mira"])
        let broken = try ImportFormat.read(Self.file(Self.item(Self.totp("", secret: "!!!!"))))
        #expect(broken.skipped.map(\.reason) == [.invalid] && broken.skipped.first?.detail.contains("!!!!") == false)
    }

    @Test(
        "A file of a later version or with missing lists is refused",
        arguments: [
            (file("", version: "2"), ImportError.Code.newerVersion, "version"), (file("", version: "-1"), .malformed, "version"),
            (file("{}"), .malformed, "credentials"),
            (Array(#"{"version":{"major":1},"exporterRpId":"a","accounts":[{}]}"#.utf8), .malformed, "items"),
        ])
    func refusesExchangeFile(bytes: [UInt8], code: ImportError.Code, part: String) throws {
        let error = try #require(throws: ImportError.self) { try ImportFormat.read(bytes) }
        #expect(error.code == code && error.part == part && error.format == .cxf)
    }

    @Test("Collections in collections in collections without end are read to a limit")
    func limitsCollections() throws {
        let depth = 40
        let collections =
            (0..<depth).map { #"{"title":"c\#($0)","items":[{"item":"aQ"}],"subCollections":["# }.joined()
            + String(repeating: "]}", count: depth)
        let content = try ImportFormat.read(Self.file(Self.item(Self.totp(Self.whole)), collections: collections))
        let names = (0..<16).map { "c\($0)" }
        #expect(content.accounts.first?.groups == names)
    }
}
