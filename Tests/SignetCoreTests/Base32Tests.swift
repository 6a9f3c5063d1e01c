import SignetCore
import SignetTesting
import Testing

@Suite("Base32, RFC 4648 section 6")
struct Base32Tests {
    @Test(
        "Base32 encodes and decodes the RFC's vectors",
        arguments: [
            ("", ""), ("f", "MY======"), ("fo", "MZXQ===="), ("foo", "MZXW6==="), ("foob", "MZXW6YQ="), ("fooba", "MZXW6YTB"),
            ("foobar", "MZXW6YTBOI======"),
        ])
    func base32Vectors(text: String, encoded: String) throws {
        let bare = encoded.filter { $0 != "=" }
        #expect(Base32.encode(text.utf8) == bare)
        #expect(Base32.encode(text.utf8, padded: true) == encoded)
        for form in [encoded, bare, encoded.lowercased()] {
            #expect(try Base32.decode(form) == Array(text.utf8))
        }
    }

    @Test(
        "Base32 decoding accepts separators, both cases and look-alikes",
        arguments: [
            "MFRGGZDFMZTWQ2LK", "mfrggzdfmztwq2lk", "MFRG GZDF MZTW Q2LK", "MFRG-GZDF-MZTW-Q2LK", "\tMFRG\r\nGZDFMZTWQ2LK ",
            "MF=RGGZDFMZTWQ2LK=", "MFRGGZDFMZTWQ21K", "--MFRGGZDFMZTWQ2LK--",
        ])
    func base32AcceptsSeparatorsAndCase(text: String) throws {
        #expect(try Base32.decode(text) == Array("abcdefghij".utf8))
    }

    @Test("Base32 decoding reads 0, 1 and 8 as O, L and B")
    func base32ReadsLookAlikes() throws {
        #expect(try Base32.decode("A0A1A8AA") == Base32.decode("AOALABAA"))
    }

    @Test(
        "Base32 decoding drops the left-over bits of a partial group",
        arguments: [
            ("A", []), ("M", []), ("MZ", [0x66]), ("MY", [0x66]), ("M7", [0x67]), ("MZX", [0x66]), ("74", [0xFF]), ("77", [0xFF]),
        ] as [(String, [UInt8])])
    func base32DropsPartialBits(text: String, bytes: [UInt8]) throws {
        #expect(try Base32.decode(text) == bytes)
    }

    @Test(
        "A Base32 error gives the position of the invalid character",
        arguments: [
            ("9", 0), ("!!!!", 0), ("MZXW9", 4), ("MZ XW_", 5), ("MZXW6YQ=.", 8), ("MZé", 2), ("é", 0), ("MZXW\u{1F680}", 4),
            ("MZ\0", 2),
            ("MZ\u{A0}XW", 2), ("MZ/XW", 2), ("MZ+XW", 2), ("ＭＺ", 0),
        ])
    func base32ErrorGivesPosition(text: String, offset: Int) throws {
        let error = try #require(throws: InvalidEncoding.self) { try Base32.decode(text) }
        #expect(error.encoding == .base32)
        #expect(error.offset == offset)
    }

    @Test("A Base32 error repeats nothing of the text")
    func base32ErrorHidesText() throws {
        let error = try #require(throws: InvalidEncoding.self) { try Base32.decode("KDJ7CDBNBTGW!SECRET") }
        var dumped = ""
        dump(error, to: &dumped)
        for text in [error.description, String(reflecting: error), dumped] {
            #expect(!text.contains("KDJ7") && !text.contains("SECRET"))
        }
        #expect(error.description == "not base32: the character at offset 12 does not fit")
    }

    @Test("Random bytes are unchanged after Base32 encoding and decoding", arguments: 0..<70)
    func base32RoundTrip(count: Int) throws {
        var random = SeededGenerator(seed: UInt64(count))
        for _ in 0..<20 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            for text in [Base32.encode(bytes), Base32.encode(bytes, padded: true)] {
                #expect(try Base32.decode(text) == bytes)
                #expect(try Base32.decode(text.lowercased()) == bytes)
            }
            #expect(Base32.encode(bytes).utf8.count == (count * 8 + 4) / 5)
            #expect(Base32.encode(bytes, padded: true).utf8.count.isMultiple(of: 8))
        }
    }
}
