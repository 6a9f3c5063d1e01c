import SignetCore
import Testing

@Suite("Icons of accounts")
struct AccountIconTests {
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    @Test(
        "The format of a picture is determined by its content",
        arguments: [
            (png, AccountIcon.MediaType.png), ([0xFF, 0xD8, 0xFF, 0xE0], .jpeg),
            (Array("RIFF\u{0}\u{0}\u{0}\u{0}WEBPVP8 ".utf8), .webP),
            (Array("<?xml version=\"1.0\"?><svg xmlns=\"http://www.w3.org/2000/svg\"/>".utf8), .svg),
        ])
    func detectsIconType(data: [UInt8], type: AccountIcon.MediaType) throws {
        let icon = try #require(AccountIcon(data))
        #expect(icon.type == type && icon.data == data)
    }

    @Test("Bytes of another format and a picture of more than 192 KiB are refused")
    func refusesUnknownPicture() {
        for data in [[], Array("icon".utf8), Array("GIF89a".utf8), Array("<html>".utf8), [0xFF, 0xD8]] as [[UInt8]] {
            #expect(AccountIcon(data) == nil)
        }
        let rest = [UInt8](repeating: 0, count: AccountIcon.maxLength - Self.png.count)
        #expect(AccountIcon(Self.png + rest) != nil)
        #expect(AccountIcon(Self.png + rest + [0]) == nil)
    }

    @Test("The id of an icon is the SHA-256 of its bytes")
    func identifiesIcon() {
        #expect(AccountIcon(Self.png)?.id == "4c4b6a3be1314ab86138bef4314dde022e600960d8689a2c8f8631802d20dab6")
    }
}
