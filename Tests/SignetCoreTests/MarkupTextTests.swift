import SignetCore
import Testing

/// Texts as pages and scripts of a server write them.
@Suite("Character references and JavaScript literals")
struct MarkupTextTests {
    @Test(
        "A character reference is replaced once, and other text stays as it is",
        arguments: [
            ("a &lt;b&gt; &amp; &quot;c&quot; &apos;d&apos;", "a <b> & \"c\" 'd'"), ("&amp;lt;", "&lt;"),
            ("&#39;&#x27;&#X27;", "'''"),
            ("&nbsp;", "\u{A0}"), ("&euro", "&euro"), ("&unknown;", "&unknown;"),
            ("&#0;&#xD800;&#x110000;", "&#0;&#xD800;&#x110000;"),
            ("a & b; c", "a & b; c"), ("&&amp;", "&&"), ("&#x1F600;", "\u{1F600}"), ("", ""), ("&", "&"), ("&;", "&;"),
            ("&#;", "&#;"),
        ]
    )
    func decodesReferences(text: String, decoded: String) {
        #expect(CharacterReferences.decode(text) == decoded)
    }

    @Test(
        "A JavaScript literal yields its value, and an incomplete escape sequence yields nil",
        arguments: [
            ("otpauth://totp/a", "otpauth://totp/a"), (#"a\x3Ab\u003D"#, "a:b="),
            (#"\uD83D\uDE00\u{1F600}"#, "\u{1F600}\u{1F600}"),
            (#"\n\t\\\'\"\/\q"#, "\n\t\\'\"/q"), ("a\\\nb", "ab"), (#"\x3"#, nil), (#"\u00g0"#, nil), (#"\u{110000}"#, nil),
            (#"\"#, nil),
            (#"\uD83D"#, nil), (#"\x+1"#, nil), (#"\u{41"#, nil), ("", ""),
        ] as [(String, String?)]
    )
    func decodesLiterals(literal: String, value: String?) {
        #expect(JavaScriptLiteral.decode(literal) == value)
    }
}
