#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The one way this package writes and reads JSON: sorted members, `/` left alone, so that equal values give equal bytes.
package enum JSON {
    package static func encode(_ value: some Encodable, pretty: Bool = false) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting =
            pretty ? [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted] : [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }

    /// The same for a value that is JSON already, several times as fast.
    package static func encode(_ value: JSONValue) -> [UInt8] {
        var writer = JSONWriter()
        writer.write(value)
        return writer.bytes
    }

    /// The same for a value that knows its members.
    package static func encode(_ value: some JSONObject) -> [UInt8] { encode(.object(value.members)) }

    package static func text(of value: JSONValue) -> String { String(decoding: encode(value), as: UTF8.self) }
    package static func text(of value: some JSONObject) -> String { text(of: .object(value.members)) }

    package static func decode<T: Decodable>(_ type: T.Type, from bytes: some Sequence<UInt8>) throws -> T {
        try JSONDecoder().decode(type, from: Data(bytes))
    }

    /// Any document, read several times as fast.
    package static func value(of bytes: some Sequence<UInt8>) throws(JSONSyntaxError) -> JSONValue {
        try JSONReader.value(of: Array(bytes))
    }

    /// A value that knows its members.
    /// - Throws: ``JSONSyntaxError``, ``JSONMemberError``, or what refuses the content of a member.
    package static func decode<T: JSONObject>(_ type: T.Type, from bytes: some Sequence<UInt8>) throws -> T {
        try T(members(of: bytes))
    }

    /// The members of an object, without making a dictionary of them.
    package static func members(of bytes: some Sequence<UInt8>) throws(JSONSyntaxError) -> JSONMembers {
        try JSONReader.members(of: Array(bytes))
    }
}
