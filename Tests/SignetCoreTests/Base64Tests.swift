import Foundation
import SignetCore
import SignetTesting
import Testing

@Suite("Base64, RFC 4648 sections 4 and 5")
struct Base64Tests {
    @Test(
        "Base64 encodes and decodes the RFC's vectors",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ])
    func base64Vectors(text: String, encoded: String) throws {
        let bare = encoded.filter { $0 != "=" }
        #expect(Base64.encode(Array(text.utf8), as: .standard) == encoded)
        #expect(Base64.encode(Array(text.utf8), as: .url) == bare)
        #expect(try Base64.decode(encoded) == Array(text.utf8))
        #expect(try Base64.decode(bare) == Array(text.utf8))
    }

    @Test("Base64 decoding accepts both alphabets, also mixed", arguments: ["+/+/", "-_-_", "+_-/", "-/+_"])
    func base64AcceptsBothAlphabets(text: String) throws {
        #expect(try Base64.decode(text) == [0xFB, 0xFF, 0xBF])
        #expect(Base64.encode([0xFB, 0xFF, 0xBF], as: .standard) == "+/+/")
        #expect(Base64.encode([0xFB, 0xFF, 0xBF], as: .url) == "-_-_")
    }

    @Test(
        "Base64 decoding drops the left-over bits of a partial group",
        arguments: [("Zg", "f"), ("Zh", "f"), ("Zn==", "f"), ("Zm9=", "fo"), ("Zm_", "fo")])
    func base64DropsPartialBits(text: String, meaning: String) throws {
        #expect(try Base64.decode(text) == Array(meaning.utf8))
    }

    @Test(
        "A Base64 error gives the position of the invalid character",
        arguments: [
            ("!", 1), ("Z", 1), ("Zm9vZ", 5), ("Zm9*", 3), ("Z m9", 1), ("Zm9v\n", 5), ("Zg==Zg==", 2), ("=", 0), ("==", 0),
            ("===", 1),
            ("====", 0), ("Zg=", 2), ("Zg===", 3), ("Zm9v=", 4), ("Zm9v==", 4), ("Z===", 1), ("Zé", 1), ("Zmé", 2),
            ("\u{1F680}", 0),
            ("Z\0==", 1), ("Ｚｍ", 0),
        ])
    func base64ErrorGivesPosition(text: String, offset: Int) throws {
        let error = try #require(throws: InvalidEncoding.self) { try Base64.decode(text) }
        #expect(error.encoding == .base64)
        #expect(error.offset == offset)
    }

    @Test(
        "The base64url of JWS and JWK has no padding and no character of the other alphabet",
        arguments: [
            ("Zg", nil), ("-_-_", nil), ("", nil), ("Zg==", 2), ("Zm8=", 3), ("=", 0), ("+_-_", 0), ("-_-/", 3), ("Zm9*", 3),
        ] as [(String, Int?)])
    func base64urlHasOneForm(text: String, offset: Int?) {
        do throws(InvalidEncoding) {
            let bytes = try Base64.decodeURL(text)
            #expect(offset == nil && Base64.encode(bytes, as: .url) == text)
        } catch {
            #expect(error.offset == offset)
        }
    }

    @Test(
        "A signed token with padding or with a character of the other alphabet is not read",
        arguments: [
            ("e30.e30.-_-_", true), ("e30.e30.", true), ("e30=.e30.-_-_", false), ("e30.e30=.-_-_", false),
            ("e30.e30.-_-_====", false), ("e30.e30.Zg==", false), ("e30.e30.+/+/", false),
        ])
    func signedTokenHasNoPadding(text: String, isRead: Bool) {
        #expect((SignedToken(text) != nil) == isRead)
    }

    @Test("A Base64 error repeats nothing of the text")
    func base64ErrorHidesText() throws {
        let error = try #require(throws: InvalidEncoding.self) { try Base64.decode("wh4BisPebv!SECRET12A") }
        var dumped = ""
        dump(error, to: &dumped)
        for text in [error.description, String(reflecting: error), dumped] {
            #expect(!text.contains("wh4B") && !text.contains("SECRET"))
        }
    }

    @Test("Base64 decoding accepts substrings and Foundation strings")
    func base64AcceptsOtherStrings() throws {
        #expect(try Base64.decode("xxZm9vxx".dropFirst(2).dropLast(2)) == Array("foo".utf8))
        #expect(try Base64.decode(String(NSString("Zm9v"))) == Array("foo".utf8))
    }

    @Test("Base64 encodes random bytes as Foundation does, and decodes them unchanged", arguments: 0..<70)
    func base64RoundTrip(count: Int) throws {
        var random = SeededGenerator(seed: UInt64(count))
        for _ in 0..<20 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            let standard = Data(bytes).base64EncodedString()
            #expect(Base64.encode(bytes, as: .standard) == standard)
            for text in [standard, standard.filter { $0 != "=" }, Base64.encode(bytes, as: .url)] {
                #expect(try Base64.decode(text) == bytes)
            }
        }
    }

    @Test("Base64 decoding finds one invalid byte at any position of a long text")
    func base64FindsInvalidByte() throws {
        let text = Array(Base64.encode([UInt8](repeating: 0xA5, count: 48), as: .url).utf8)
        for offset in text.indices {
            for bad in [UInt8(ascii: " "), UInt8(ascii: "."), UInt8(ascii: "%"), 0, 0x7F] {
                var changed = text
                changed[offset] = bad
                let error = try #require(throws: InvalidEncoding.self) {
                    try Base64.decode(String(decoding: changed, as: UTF8.self))
                }
                #expect(error.offset == offset)
            }
        }
    }
}
