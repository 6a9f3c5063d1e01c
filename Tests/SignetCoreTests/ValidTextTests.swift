import Foundation
import SignetCore
import Testing

@Suite("Text from UTF-8")
struct ValidTextTests {
    /// A sequence of bytes that is not at the start of an array.
    private func slice(_ bytes: [UInt8]) -> ArraySlice<UInt8> { ([0x78] + bytes)[1...] }

    @Test(
        "Valid UTF-8 becomes the same text, with NUL, U+FFFD and a byte order mark",
        arguments: [
            "", "a", "a\0b", "\0", "ä", "\u{FFFD}", "a\u{FFFD}b", "\u{FEFF}a", "\u{7F}\u{80}\u{7FF}\u{800}\u{FFFF}",
            "\u{10000}\u{10FFFF}",
            "e\u{301}", "\u{E9}", String(repeating: "Zoë 🦊 ", count: 100),
        ])
    func acceptsValid(text: String) {
        let bytes = Array(text.utf8)
        // The last collection has its bytes in no buffer.
        let scattered = bytes.lazy.map { $0 }
        let texts = [
            String(strictUTF8: bytes), String(strictUTF8: slice(bytes)), String(strictUTF8: Data(bytes)),
            String(strictUTF8: scattered),
        ]
        let found = texts.map { $0.map { Array($0.utf8) } }
        #expect(found == Array(repeating: bytes, count: texts.count))
    }

    @Test(
        "Bytes that are not UTF-8 are refused, also between valid ones",
        arguments: [
            // A continuation byte alone, and bytes that never occur.
            [0x80], [0xBF], [0xC0], [0xC1], [0xF5], [0xFE], [0xFF],
            // Cut sequences; the last one has as many bytes as U+FFFD.
            [0xC3], [0xE2, 0x82], [0xF0, 0x9F], [0xF0, 0x9F, 0xA6],
            // Overlong forms of NUL, "/", U+007F, U+07FF and U+FFFF.
            [0xC0, 0x80], [0xC0, 0xAF], [0xC1, 0xBF], [0xE0, 0x80, 0xAF], [0xE0, 0x9F, 0xBF], [0xF0, 0x80, 0x80, 0xAF],
            [0xF0, 0x8F, 0xBF, 0xBF],
            // Surrogates, alone and as a pair.
            [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80],
            // Beyond U+10FFFF, and a form of five bytes.
            [0xF4, 0x90, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80],
            // A sequence that another character interrupts.
            [0xE2, 0x41, 0x82],
        ] as [[UInt8]])
    func refusesInvalidBytesAsText(bytes: [UInt8]) {
        let fox = Array("🦊".utf8)
        let allSurroundings: [(before: [UInt8], after: [UInt8])] = [
            ([], []), ([0x61], []), ([], [0x61]), ([0], [0]), (fox, fox), ([0xEF, 0xBF, 0xBD], []),
        ]
        for surroundings in allSurroundings {
            let whole = surroundings.before + bytes + surroundings.after
            #expect(String(strictUTF8: whole) == nil)
            #expect(String(strictUTF8: slice(whole)) == nil)
            #expect(String(strictUTF8: Data(whole)) == nil)
            let scattered = whole.lazy.map { $0 }
            #expect(String(strictUTF8: scattered) == nil)
        }
    }
}
