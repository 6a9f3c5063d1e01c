import Foundation
import SignetTesting
import Testing

@testable import SignetCore

/// Signet's JSON reader and writer compared with Foundation's: both must agree, or refuse where this file names the difference.
@Suite("JSON reader compared with Foundation")
struct JSONReaderTests {
    private func ours(_ text: some Sequence<UInt8>) -> JSONValue? { try? JSON.value(of: text) }
    private func theirs(_ text: some Sequence<UInt8>) -> JSONValue? {
        try? JSONDecoder().decode(JSONValue.self, from: Data(text))
    }

    @Test(
        "JSON is read as the standard defines",
        arguments: [
            // Accepted, whatever Foundation does.
            (#" { "a" : [ 1 , 2 ] } "#, .object(["a": .array([.integer(1), .integer(2)])])),
            ("\t\r\n 1", .integer(1)), ("-0", .integer(0)), ("1.0", .integer(1)), ("1e3", .integer(1000)),
            ("12e-1", .number(1.2)),
            ("1E+2", .integer(100)), (#""\u0041\u00e9\u20AC""#, .string("Aé€")), (#""\ud83d\ude80""#, .string("🚀")),
            (#""\"\\\/\b\f\n\r\t""#, .string("\"\\/\u{8}\u{C}\n\r\t")), ("\"\u{7F}\"", .string("\u{7F}")),
            (#""\u0000""#, .string("\0")),
            (#"{"a":{"a":1},"b":{"a":2}}"#, .object(["a": .object(["a": .integer(1)]), "b": .object(["a": .integer(2)])])),
            (#"{"a":1,"A":2}"#, .object(["a": .integer(1), "A": .integer(2)])), (#"{"":{}}"#, .object(["": .object([:])])),
            // Refused.
            ("", nil), (" ", nil), ("1 2", nil), ("[1]]", nil), ("{}x", nil), ("[1,]", nil), ("[,1]", nil), ("{,}", nil),
            (#"{"a":1,}"#, nil), (#"{"a":}"#, nil), (#"{"a" 1}"#, nil), ("{1:2}", nil), ("{'a':1}", nil), ("[1 2]", nil),
            ("01", nil), ("-", nil), ("-01", nil), ("+1", nil), (".5", nil), ("1.", nil), ("1.e1", nil), ("1e", nil),
            ("1e+", nil),
            ("0x10", nil), ("1e400", nil), ("-1e400", nil), ("Infinity", nil), ("tru", nil), ("True", nil), ("nullx", nil),
            (#"""#, nil), (#""a"#, nil), (#""\"#, nil), (#""\x""#, nil), (#""\u12""#, nil), (#""\u12G4""#, nil),
            (#""\ud83d""#, nil), (#""\ude80""#, nil), (#""\ud83d\u0041""#, nil), (#""\ud83dx""#, nil), ("\"\n\"", nil),
            ("\"\0\"", nil), ("\u{FEFF}1", nil), ("// a\n1", nil),
        ] as [(String, JSONValue?)])
    func readsStandardJSON(text: String, value: JSONValue?) {
        #expect(ours(text.utf8) == value)
    }

    @Test(
        "A member is found by its name in any escaping",
        arguments: [
            (#"{"name":"a"}"#, "a"), (#"{"n\u0061me":"\u0061"}"#, "a"), (#"{"nam":"b","name":"a","names":"c"}"#, "a"),
            (#"{"näme":"ü","name":"ü"}"#, "ü"), (#"{"Name":"b"}"#, nil), ("{}", nil),
        ])
    func findsMemberByName(text: String, value: String?) throws {
        #expect(try JSON.members(of: text.utf8).optionalText("name") == value)
    }

    @Test(
        "An object with a name twice is refused at any depth and in any escaping",
        arguments: [
            #"{"sub":"alice","sub":"mallory"}"#, #"{"sub":1,"sub":1}"#, #"{"sub":"alice","\u0073ub":"mallory"}"#,
            #"{"\u0073ub":1,"s\u0075b":2}"#, #"{"sub":1,"x":{},"sub":{}}"#, #"{"":1,"":2}"#, #"{"ü":1,"\u00fc":2}"#,
            #"{"a":{"x":1,"x":2}}"#, #"{"a":[{"x":1,"x":2}]}"#, #"[{"a":[],"a":[]}]"#, #"{"sub":null,"sub":"mallory"}"#,
            #"{"\ud83d\ude80":1,"🚀":2}"#,
        ])
    func refusesRepeatedNameInObject(text: String) throws {
        let error = #expect(throws: JSONSyntaxError.self) { try JSON.value(of: text.utf8) }
        #expect(error?.isRepeatedName == true)
        // The member reader of stored records and requests refuses it too.
        let inObject = #expect(throws: JSONSyntaxError.self) { try JSON.members(of: "{\"object\":\(text)}".utf8) }
        #expect(inObject?.isRepeatedName == true)
    }

    @Test(
        "An object with very many names is read in linear time, and a repeated one among them is found", arguments: [40, 20_000])
    func readsManyNames(count: Int) throws {
        let names = (0..<count).map { "\"name\($0)\":\($0)" }.joined(separator: ",")
        #expect(try JSON.value(of: "{\(names)}".utf8).object?.count == count)
        let members = try JSON.members(of: "{\(names)}".utf8)
        #expect(try members.integer("name\(count - 1)") == count - 1)
        for repeated in ["name0", "name\(count - 1)", "\\u006eame39"] {
            let text = "{\(names),\"\(repeated)\":0}"
            #expect(throws: JSONSyntaxError.self) { try JSON.value(of: text.utf8) }
            #expect(throws: JSONSyntaxError.self) { try JSON.members(of: text.utf8) }
        }
    }

    @Test(
        "JSON that is not UTF-8 is refused",
        arguments: [
            [0x22, 0xFF, 0x22], [0x22, 0xC3, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22],
            [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], [0x5B, 0x80, 0x5D], [0x22, 0x5C, 0x6E, 0xFF, 0x22],
        ] as [[UInt8]])
    func refusesInvalidUTF8(bytes: [UInt8]) {
        #expect(ours(bytes) == nil)
    }

    @Test(
        "Invalid JSON is refused with the position and without its content",
        arguments: [
            (#"{"secret":x}"#, 10), (#"{"secret" 1}"#, 10), (#"["secret""#, 9), (#""secret"#, 7), ("\"se\u{1}cret\"", 3),
            ("[1]secret", 3),
        ])
    func jsonErrorGivesPosition(text: String, offset: Int) throws {
        let error = #expect(throws: JSONSyntaxError.self) { try JSON.value(of: text.utf8) }
        let found = try #require(error)
        #expect(found.offset == offset)
        #expect(!"\(found)".contains("secret"))
    }

    @Test(
        "Thousands of random texts, whole and damaged, are read as Foundation reads them",
        arguments: 0..<20 as Range<UInt64>)
    func agreesWithFoundation(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let pieces = [
            "{", "}", "[", "]", "\"", "\\", "/", ":", ",", "a", "\"b\"", "\\\"", "\\/", "\\u0041", "\\ud83d", "\\ude80", " ",
            "\n",
            "0", "1", "-", ".5", "e3", "9223372036854775808", "ü", "🚀", "null", "true", "{\"a\":\"b\"", ",\"c\":1", "}",
        ]
        var agreed = 0
        for _ in 0..<1000 {
            var text = (0..<Int.random(in: 1...7, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
                .joined()
            switch Int.random(in: 0..<4, using: &random) {
            case 0: text = "[\(text)]"
            case 1: text = "\"\(text)\""
            case 2: text = "{\"x\":\(text)}"
            default: break
            }
            // This reader refuses what Foundation accepts beyond the standard, such as a trailing comma.
            guard let ours = ours(text.utf8) else { continue }
            #expect(ours == theirs(text.utf8), "\(text)")
            // Reading the members, whose strings stay in the text, gives the same result.
            #expect((try? JSON.members(of: text.utf8))?.all == ours.object, "\(text)")
            agreed += 1
        }
        #expect(agreed > 50)
    }

    @Test("JSON is written byte for byte as Foundation writes it")
    func writesJSONAsFoundation() throws {
        let texts =
            (0..<0x20).compactMap(Unicode.Scalar.init).map { "x\(Character($0))y" } + [
                "\u{7F}", "ü🚀", "\u{2028}", "a/b", "\"\\", "",
            ]
        let numbers: [Double] = [
            0.1, -1.5, 1e300, 1e-9, 3, 1e16, 1.7976931348623157e308, .leastNonzeroMagnitude, -0.0, .nan, .infinity,
        ]
        let names = ["b", "a", "ä", "B", "", "aa", "a-", "🚀", "\u{1}"]
        let value: JSONValue = .object([
            "texts": .array(texts.map { .string($0) }), "numbers": .array(numbers.map { .number($0) }),
            "whole": .array([.integer(Int64.max), .integer(Int64.min), .integer(0)]),
            "members": .object(Dictionary(uniqueKeysWithValues: names.map { ($0, .null) })),
            "bools": .array([.bool(true), .bool(false), .null, .array([]), .object([:])]),
        ])
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        #expect(JSON.text(of: value) == String(decoding: try encoder.encode(value), as: UTF8.self))
    }
}
