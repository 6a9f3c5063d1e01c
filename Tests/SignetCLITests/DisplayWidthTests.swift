import Testing

@testable import signet

@Suite("The width of text on a terminal")
struct DisplayWidthTests {
    @Test(
        "Letters have one column, East Asian characters and emoji two, and combining characters none",
        arguments: [
            ("", 0), ("Harbor", 6), ("Zürich", 6), ("e\u{301}", 1), ("東京", 4), ("ｆｕｌｌ", 8), ("한국", 4),
            ("\u{1112}\u{1161}\u{11AB}", 2),
            ("⚓", 2), ("🏦", 2), ("🇨🇭", 2), ("…", 1), ("नमस्ते", 4), ("ไทย", 3), ("𠀀", 2),
        ])
    func measuresText(text: String, width: Int) {
        #expect(text.displayWidth == width)
        let sum = text.reduce(0) { $0 + $1.displayWidth }
        #expect(sum == width)
    }

    @Test(
        "Text that is too wide ends with an ellipsis, and never with half of a character",
        arguments: [
            ("Harbor", 6, "Harbor"), ("Harbor", 5, "Harb…"), ("Harbor", 1, "…"), ("Harbor", 0, ""), ("東京都", 6, "東京都"),
            ("東京都", 5, "東京…"), ("東京都", 4, "東…"), ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
        ])
    func shortensText(text: String, columns: Int, expected: String) {
        #expect(text.shortened(to: columns) == expected)
        #expect(text.filling(columns).displayWidth == columns)
        #expect(text.prefix(columns: columns).displayWidth <= columns)
    }

    @Test(
        "Text is broken at spaces, in words that are too wide, and the last line is shortened",
        arguments: [
            ("Log in to Harbor Bank?", 10, 3, ["Log in to", "Harbor", "Bank?"]),
            ("Log in to Harbor Bank?", 10, 2, ["Log in to", "Harbor Ba…"]),
            ("abcdefghij", 4, 3, ["abcd", "efgh", "ij"]), ("東京都", 4, 2, ["東京", "都"]), ("a b", 10, 1, ["a b"]), ("   ", 10, 2, []),
        ])
    func wrapsText(text: String, columns: Int, limit: Int, expected: [String]) {
        #expect(text.wrapped(to: columns, limit: limit) == expected)
    }

    @Test(
        "A text of others is in one line without control characters, and with few combining characters",
        arguments: [
            ("\u{1B}]52;c;x\u{07}", "\\u{1B}]52;c;x\\u{7}"), ("a\nb\tc", "a b c"), ("\u{202E}abc", "\\u{202E}abc"),
            ("\u{301}abc", "\u{25CC}\u{301}abc"), ("a" + String(repeating: "\u{301}", count: 50), "a\u{301}\u{301}\u{301}"),
            ("❤\u{FE0F}", "❤"), ("👍🏽", "👍"), ("otpauth://totp/a?secret=B", "<URI>"),
        ])
    func escapesText(value: String, expected: String) {
        let cell = CellText(value)
        #expect(cell.text == expected)
        #expect(cell.width == cell.text.displayWidth)
    }

    @Test("Only the beginning of a very long text is read")
    func limitsText() {
        #expect(CellText(String(repeating: "x", count: 100_000)).width == 600)
    }
}
