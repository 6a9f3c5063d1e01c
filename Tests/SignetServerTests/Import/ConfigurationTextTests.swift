import SignetCore
import TestSupport
import Testing
import YAMLText

@testable import SignetServer

@Suite("The text of a converted configuration file")
struct ConfigurationTextTests {
    static let texts = [
        "plain", "two words", "true", "null", "~", "5", "-", "a: b", "# no comment", "\"quoted\"", "back\\slash", "*alias",
        "&anchor *anchor",
        "tab\there", "two\nlines", "two\nlines\n", "three\n\n\n", "\nfirst", " space", "end ", "if (a && b) {\n\t*x\n}\n",
        "a\r\nb", "\u{7}",
        "\u{202E}right", "\u{85}", "\u{2028}", "😀", "prüfen", "%directive", "@at", "{flow}", "[list]", "- item", "!tag", "|", ">",
        "y", "No",
        String(repeating: "long ", count: 60),
    ]

    @Test("Each text is read back unchanged, alone and in a list, and as a name", arguments: texts)
    func roundTrips(text: String) throws {
        let value = JSONValue.object([
            "value": .string(text), "list": .array([.string(text), .object([text: .integer(1), "z": .string(text)])]),
            "other": .object(["a": .null, "b": .bool(true), "c": .number(1.5), "d": .array([])]),
        ])
        let entries = try #require(MarkedValue(value, at: .start).mapping)
        let written = ConfigurationText.block(entries, indent: 2)
        #expect(try YAMLText.value(of: written)?.json == value, "\(written)")
    }
}
