import SignetCore
import SignetTransfer
import Testing

/// Values in the files of other programs from which a default or another account would follow silently.
@Suite("Values of imported entries")
struct ImportedValueTests {
    // MARK: Steam

    @Test("2FAS: An entry of the issuer Steam with five digits is one of Steam, also under a name that the user gave")
    func recognizesRenamedSteam() throws {
        let services = ["Games", "Old games"].map { name in
            #"{"name":"\#(name)","secret":"JBSWY3DPEHPK3PXP","otp":{"account":"gordon","issuer":"Steam","digits":5}}"#
        }
        let file = #"{"schemaVersion":4,"services":[\#(services.joined(separator: ","))]}"#
        let content = try ImportFormat.read(Array(file.utf8))
        #expect(content.accounts.isEmpty)
        #expect(content.skipped.map(\.type) == ["steam", "steam"])
        #expect(content.skipped.map(\.reason) == [.unsupportedType, .unsupportedType])
    }
}
