import Testing

@testable import signet

@Suite("The keys of signet watch")
struct WatchKeyTests {
    /// The bytes that a terminal sends, and the keys that they mean.
    private static let inputs: [(bytes: String, keys: [WatchKey])] = [
        ("a1 ?", [.text("a"), .text("1"), .text(" "), .text("?")]), ("ü東🏦", [.text("ü"), .text("東"), .text("🏦")]),
        ("\r\n", [.enter, .enter]), ("\u{7F}\u{08}", [.backspace, .backspace]), ("\t\u{15}", [.tab, .clear]),
        ("\u{03}\u{1A}\u{0C}", [.interrupt, .suspend, .redraw]), ("\u{10}\u{0E}", [.up, .down]),
        ("\u{1B}[A\u{1B}[B", [.up, .down]), ("\u{1B}OA\u{1B}OB", [.up, .down]), ("\u{1B}[1;5A", [.up]),
        ("\u{1B}[H\u{1B}[F\u{1B}[1~\u{1B}[4~", [.home, .end, .home, .end]), ("\u{1B}[5~\u{1B}[6~", [.pageUp, .pageDown]),
        ("\u{1B}[Z\u{1B}OM", [.tab, .enter]), ("\u{1B}[15~\u{1B}[Cx", [.text("x")]), ("\u{1B}xy", [.text("y")]),
        ("\u{1B}\u{1B}[A", [.escape, .up]), ("\u{1B}[12345678901234567890;1;2;3Ax", [.up, .text("x")]),
        ("\u{1B}[1\u{1B}[Bz", [.down, .text("z")]),
        ("\u{1B}[200~d\ry\u{1B}[201~a", [.pasted("d"), .pasted("y"), .text("a")]),
        ("\u{1B}[200~x\u{03}", [.pasted("x"), .interrupt]),
        ("a\u{301}", [.text("a"), .text("\u{301}")]), ("\u{200D}\u{202E}b", [.text("b")]),
    ]

    @Test("Each key is read from the bytes of a terminal, in whatever pieces they arrive", arguments: inputs)
    func readsKeys(input: (bytes: String, keys: [WatchKey])) {
        let bytes = Array(input.bytes.utf8)
        for split in 0...bytes.count {
            var reader = WatchKeyReader()
            let keys = reader.keys(from: bytes[..<split]) + reader.keys(from: bytes[split...])
            #expect(keys == input.keys, "split after \(split) bytes")
        }
        var reader = WatchKeyReader()
        let single = bytes.flatMap { reader.keys(from: [$0]) }
        #expect(single == input.keys)
    }

    @Test("The key Escape is its byte without another one in some time, and the beginning of a sequence is not")
    func readsEscape() {
        var reader = WatchKeyReader()
        let first = reader.keys(from: [0x1B])
        let mayBeEscape = reader.mayBeEscape
        let (escape, nothing) = (reader.timeout(), reader.timeout())
        #expect(first == [] && mayBeEscape)
        #expect(escape == [.escape] && nothing == [])
        let beginning = reader.keys(from: [0x1B, UInt8(ascii: "[")])
        let (isSequence, later) = (!reader.mayBeEscape, reader.timeout())
        #expect(beginning == [] && isSequence && later == [])
        let end = reader.keys(from: [UInt8(ascii: "A")])
        #expect(end == [.up])
    }

    @Test(
        "Bytes that are not UTF-8 are left out, and what follows them is read",
        arguments: [
            [0x80, 0x61], [0xFF, 0x61], [0xC3, 0x61], [0xE6, 0x9D, 0x61], [0xC0, 0x80, 0x61], [0xF5, 0x80, 0x80, 0x80, 0x61],
            [0xED, 0xA0, 0x80, 0x61], [0x9B, 0x61],
        ] as [[UInt8]])
    func skipsInvalidBytes(bytes: [UInt8]) {
        var reader = WatchKeyReader()
        let keys = reader.keys(from: bytes)
        #expect(keys == [.text("a")])
    }
}
