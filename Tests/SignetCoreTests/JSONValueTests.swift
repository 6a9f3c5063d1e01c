import Foundation
import SignetCore
import SignetTesting
import Testing

@Suite("JSON values")
struct JSONValueTests {
    private func decode(_ text: String) throws -> JSONValue { try JSON.value(of: text.utf8) }
    private func encode(_ value: JSONValue) -> String { JSON.text(of: value) }

    @Test(
        "Every kind of JSON document is read and written",
        arguments: [
            ("null", JSONValue.null), ("true", .bool(true)), ("false", .bool(false)), ("0", .integer(0)), ("1", .integer(1)),
            ("-17", .integer(-17)), ("0.5", .number(0.5)), ("-1.25", .number(-1.25)), ("\"\"", .string("")),
            ("\"1\"", .string("1")),
            ("\"true\"", .string("true")), ("\"a/b ü 🚀\"", .string("a/b ü 🚀")), ("[]", .array([])), ("{}", .object([:])),
            ("[null,true,1,\"x\",[],{}]", .array([.null, .bool(true), .integer(1), .string("x"), .array([]), .object([:])])),
            (
                "{\"\":1,\"a\":null,\"b\":{\"c\":[0.5]}}",
                .object(["": .integer(1), "a": .null, "b": .object(["c": .array([.number(0.5)])])])
            ),
        ] as [(String, JSONValue)])
    func jsonDocumentsRoundTrip(text: String, value: JSONValue) throws {
        #expect(try decode(text) == value)
        #expect(encode(value) == text)
    }

    @Test(
        "64-bit integers stay exact",
        arguments: [
            .max, .max - 1, .min, .min + 1, 9_007_199_254_740_992, 9_007_199_254_740_993, -9_007_199_254_740_993,
            1_735_689_600_001, 0, -1,
        ] as [Int64])
    func keepsExactIntegers(number: Int64) throws {
        #expect(try decode(String(number)) == .integer(number))
        #expect(encode(.integer(number)) == String(number))
        #expect(try decode("{\"n\":[\(number)]}")["n"]?.array == [.integer(number)])
    }

    @Test(
        "Numbers beyond 64 bits become the nearest Double",
        arguments: [
            ("9223372036854775808", 0x1p63), ("-9223372036854775809", -0x1p63), ("18446744073709551616", 0x1p64),
            ("1e300", 1e300),
            ("1e-9", 1e-9), ("0.1", 0.1),
        ] as [(String, Double)])
    func largeNumbersBecomeDouble(text: String, number: Double) throws {
        #expect(try decode(text) == .number(number))
        #expect(try decode(encode(.number(number))) == .number(number))
    }

    @Test("Unknown members are kept at every depth")
    func keepsUnknownMembersAtEveryDepth() throws {
        let text = #"{"known":1,"unknown":{"deep":[{"x":null,"y":[1,2.5,"z"]}]}}"#
        #expect(try encode(decode(text)) == text)
    }

    @Test("Equal values are written as equal bytes")
    func writesSortedMembers() throws {
        #expect(try encode(decode(#"{"b":1,"a":{"d":1,"c":2}}"#)) == #"{"a":{"c":2,"d":1},"b":1}"#)
    }

    @Test(
        "Text that is not JSON is refused",
        arguments: ["", "{", "[1,,2]", "{\"a\"}", "nul", "01", "1.", "\"\u{1}\"", "'a'", "{a:1}", "NaN", "\u{FEFF}"])
    func refusesNonJSON(text: String) {
        #expect(throws: (any Error).self) { try decode(text) }
    }

    @Test(
        "An integer may be written as a number or as a string",
        arguments: [
            (.integer(120), 120), (.string("120"), 120), (.number(120), 120), (.string("-1"), -1),
            (.string("9223372036854775807"), .max),
            (.string("9223372036854775808"), nil), (.string("1.5"), nil), (.string(" 1"), nil), (.string(""), nil),
            (.number(1.5), nil),
            (.number(1e300), nil), (.number(.nan), nil), (.bool(true), nil), (.null, nil), (.array([.integer(1)]), nil),
        ] as [(JSONValue, Int64?)])
    func readsLenientIntegers(value: JSONValue, number: Int64?) {
        #expect(value.lenientInteger == number)
    }

    @Test("An accessor returns a value's content only for its own kind")
    func accessorsMatchKind() {
        let values: [JSONValue] = [
            .string("a"), .object(["a": .null]), .array([.null]), .bool(true), .null, .integer(1), .number(0.5),
        ]
        #expect(values.compactMap(\.string) == ["a"])
        #expect(values.compactMap(\.object) == [["a": .null]])
        #expect(values.compactMap(\.array) == [[.null]])
        #expect(values.compactMap(\.bool) == [true])
        #expect(values[1]["a"] == .null)
        #expect(values[1]["b"] == nil)
        #expect(values[0]["a"] == nil)
    }

    @Test("Random values are unchanged after writing and reading", arguments: 0..<20 as Range<UInt64>)
    func jsonValueRoundTrip(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let value = Self.value(depth: 4, using: &random)
            #expect(try decode(encode(value)) == value)
        }
    }

    @Test("A document with unlimited nesting is refused without exhausting the stack", arguments: ["[", "{\"a\":"])
    func refusesDeepNesting(opening: String) throws {
        #expect(throws: (any Error).self) { try decode(String(repeating: opening, count: 100_000)) }
        let closing = opening == "[" ? "]" : "}"
        let text = String(repeating: opening, count: 200) + "1" + String(repeating: closing, count: 200)
        #expect(try encode(decode(text)) == text)
    }

    @Test("The numbers 0 and 1 of a document that Foundation has read stay numbers, and its Boolean values stay Boolean")
    func convertsFoundationValues() throws {
        let text = #"{"none":0,"one":1,"ten":10,"half":0.5,"yes":true,"no":false,"list":[1,true]}"#
        let untyped = try JSONSerialization.jsonObject(with: Data(text.utf8))
        let json = try #require(JSONValue(any: untyped))
        let wanted: [String: JSONValue] = [
            "none": .integer(0), "one": .integer(1), "ten": .integer(10), "half": .number(0.5), "yes": .bool(true),
            "no": .bool(false), "list": .array([.integer(1), .bool(true)]),
        ]
        #expect(json == .object(wanted))
    }

    @Test("A document that Foundation has read has the values that decoding gives, also for nulls and large numbers")
    func keepsFoundationNullsAndLargeNumbers() throws {
        let text = #"""
            {"none":null,"list":[null,1],"large":9007199254740993,"least":-9223372036854775808,"most":9223372036854775807,
            "beyond":9223372036854775808,"unsigned":18446744073709551615,"huge":36893488147419103232}
            """#
        let untyped = try JSONSerialization.jsonObject(with: Data(text.utf8))
        #expect(try JSONValue(any: untyped) == decode(text))
    }

    @Test("Untyped values convert to JSON and back, and values that JSON can't express are left out")
    func convertsUntypedValues() throws {
        let untyped: [String: Any] = ["text": "a", "whole": 3, "even": 3.0, "half": 0.5, "bool": true, "list": [1, "b"]]
        let json = try #require(JSONValue(any: untyped))
        let wanted: [String: JSONValue] = [
            "text": .string("a"), "whole": .integer(3), "even": .integer(3), "half": .number(0.5), "bool": .bool(true),
            "list": .array([.integer(1), .string("b")]),
        ]
        #expect(json == .object(wanted))
        #expect(JSONValue(any: json.any) == json)
        #expect(JSONValue(any: nil) == .null)
        let nulls = JSONValue.object(["a": .null, "list": .array([.integer(1), .null, .integer(2)])])
        #expect(JSONValue(any: nulls.any) == nulls)
        #expect(JSONValue(any: JSONValue.null.any) == .null)
        #expect(JSONValue(any: ["error": CancellationError(), "kept": 1] as [String: Any]) == .object(["kept": .integer(1)]))
        #expect(JSONValue(any: Double.infinity) == nil)
        #expect(JSONValue(any: UInt64.max) == .number(Double(UInt64.max)))
    }

    private static func value(depth: Int, using random: inout SeededGenerator) -> JSONValue {
        let texts = ["", "a", "/", "\"", "\\", "\u{0}", "\u{1F}", "ü", "🚀", "e\u{301}", "\u{2028}", "1", "null"]
        let text = texts[Int.random(in: 0..<texts.count, using: &random)]
        switch Int.random(in: 0..<(depth > 0 ? 7 : 5), using: &random) {
        case 0: return .null
        case 1: return .bool(Bool.random(using: &random))
        case 2: return .integer(Int64.random(in: .min ... .max, using: &random))
        case 3: return .number(Double.random(in: -1e6...1e6, using: &random).rounded() + 0.5)
        case 4: return .string(text)
        case 5: return .array((0..<Int.random(in: 0...4, using: &random)).map { _ in value(depth: depth - 1, using: &random) })
        default:
            let names = (0..<Int.random(in: 0...4, using: &random)).map { "\(text)\($0)" }
            return .object(Dictionary(uniqueKeysWithValues: names.map { ($0, value(depth: depth - 1, using: &random)) }))
        }
    }
}
