import Foundation
import SignetCore
import Testing

@Suite("The encoder of JSON texts")
struct JSONTextEncoderTests {
    private enum Choice: Codable {
        case none
        case some(text: String, count: Int?)
    }

    private struct Nested: Encodable {
        func encode(to encoder: any Encoder) throws {
            var object = encoder.container(keyedBy: Key.self)
            var array = object.nestedUnkeyedContainer(forKey: .second)
            try array.encode(1)
            try array.encodeNil()
            var inner = array.nestedContainer(keyedBy: Key.self)
            try inner.encode("x", forKey: .first)
            // The outer container is used again while the inner ones are open.
            try object.encode(true, forKey: .first)
            try inner.encode("y", forKey: .second)
            try array.encode(["a"])
            var single = object.superEncoder(forKey: .third).singleValueContainer()
            try single.encode(Int8(-3))
            var other = object.superEncoder().unkeyedContainer()
            try other.encode("z")
        }

        private enum Key: String, CodingKey { case first, second, third }
    }

    private struct Twice: Encodable {
        func encode(to encoder: any Encoder) throws {
            var object = encoder.container(keyedBy: Key.self)
            try object.encode(1, forKey: .a)
            try object.encode(2, forKey: .b)
            try object.encode(3, forKey: .a)
        }

        private enum Key: String, CodingKey { case a, b }
    }

    private struct Everything: Encodable {
        var texts = ["", "a/b", "\"\\\u{8}\u{C}\n\r\t\u{1}\u{1F}\u{7F}", "ü😀\u{2028}"]
        var numbers: [Double] = [0, -0.0, 1, 1.5, 1e21, 1e-7, 123_456_789.123, .greatestFiniteMagnitude, .leastNonzeroMagnitude]
        var floats: [Float] = [0.1, 1, 3.4e38]
        var integers: [Int64] = [.min, 0, .max]
        var unsigned: [UInt64] = [0, .max]
        var small: [UInt8] = [0, 255]
        var date = Date(timeIntervalSinceReferenceDate: 700_000_000.123456)
        var url = URL(string: "https://example.test/a/b?c=d")
        var data = Data([0, 1, 255])
        var absent: String?
        var dictionary = ["b": 1, "a": 2, "B": 3, "é": 4]
        var byNumber = [3: "c", 1: "a"]
        var choices = [Choice.none, .some(text: "x", count: nil), .some(text: "y", count: 2)]
        var json = JSONValue.object(["x": .array([.null, .bool(true), .number(2.5), .integer(7)]), "a": .string("/")])
        var empty: [String: String] = [:]
        var nested = Nested()
        var twice = Twice()
        var flag = false
    }

    private static func reference(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    @Test("Values are encoded as Foundation's encoder encodes them")
    func encodesAsFoundation() throws {
        let value = Everything()
        #expect(String(decoding: try JSONTextEncoder().encode(value), as: UTF8.self) == (try Self.reference(value)))
        #expect(String(decoding: try JSONTextEncoder().encode("a\"b"), as: UTF8.self) == "\"a\\\"b\"")
        #expect(String(decoding: try JSONTextEncoder().encode([1, 2]), as: UTF8.self) == "[1,2]")
    }

    @Test("A number that JSON does not have is an error", arguments: [Double.infinity, -.infinity, .nan])
    func refusesNumber(number: Double) {
        #expect(throws: EncodingError.self) { try JSONTextEncoder().encode([number]) }
    }
}
