#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reads and writes all JSON of this package.
///
/// Members are sorted and `/` is not escaped, so that equal values give equal bytes. An object with a name twice is refused, from
/// all sources: tokens, responses, messages, requests and files.
package enum JSON {
    package static func encode(_ value: some Encodable, pretty: Bool = false) throws -> [UInt8] {
        guard pretty else { return try JSONTextEncoder().encode(value) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
        return Array(try encoder.encode(value))
    }

    /// Encodes a ``JSONValue``.
    ///
    /// It is several times as fast as the encoder for `Encodable` values.
    package static func encode(_ value: JSONValue) -> [UInt8] {
        var writer = JSONWriter()
        writer.write(value)
        return writer.bytes
    }

    /// Encodes a value that lists its own JSON members.
    package static func encode(_ value: some JSONObject) -> [UInt8] { encode(.object(value.members)) }

    package static func text(of value: JSONValue) -> String { String(decoding: encode(value), as: UTF8.self) }
    package static func text(of value: some JSONObject) -> String { text(of: .object(value.members)) }

    /// Decodes a value with Foundation's decoder.
    /// - Throws: ``JSONSyntaxError`` for a text that ``value(of:)`` refuses; the errors of the decoder.
    package static func decode<T: Decodable>(_ type: T.Type, from bytes: some Sequence<UInt8>) throws -> T {
        let bytes = Array(bytes)
        // The decoder accepts more than this package does, and silently takes one of two members with the same name.
        _ = try JSONReader.value(of: bytes)
        return try JSONDecoder().decode(type, from: Data(bytes))
    }

    /// Parses any JSON document.
    ///
    /// It is several times as fast as the decoder for `Decodable` types.
    package static func value(of bytes: some Sequence<UInt8>) throws(JSONSyntaxError) -> JSONValue {
        try JSONReader.value(of: Array(bytes))
    }

    /// Decodes a value that reads its own JSON members.
    /// - Throws: ``JSONSyntaxError``, ``JSONMemberError``, or the error that the type throws for the content of a member.
    package static func decode<T: JSONObject>(_ type: T.Type, from bytes: some Sequence<UInt8>) throws -> T {
        try T(members(of: bytes))
    }

    /// Parses the members of an object without building a dictionary.
    package static func members(of bytes: some Sequence<UInt8>) throws(JSONSyntaxError) -> JSONMembers {
        try JSONReader.members(of: Array(bytes))
    }
}
