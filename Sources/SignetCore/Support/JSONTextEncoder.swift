#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Encodes `Encodable` values as JSON.
///
/// The output is identical to that of Foundation's encoder with the options of ``JSON/encode(_:pretty:)``, and takes a fraction of its
/// time, because the values are written from an array of members instead of a dictionary. `Decimal` has no special form here.
package struct JSONTextEncoder: Sendable {
    private let userInfo: [CodingUserInfoKey: any Sendable]

    /// Creates an encoder.
    /// - Parameter userInfo: The values that the encoded types can read.
    package init(userInfo: [CodingUserInfoKey: any Sendable] = [:]) { self.userInfo = userInfo }

    /// Encodes a value.
    /// - Parameter value: The value.
    /// - Returns: Compact JSON, the members of each object in the order of their names.
    /// - Throws: The errors of the value; `EncodingError` for a number that JSON does not have.
    package func encode(_ value: some Encodable) throws -> [UInt8] {
        var writer = JSONWriter()
        writer.write(try JSONPart(value, userInfo))
        return writer.bytes
    }
}

/// A part of a JSON document that is being encoded.
enum JSONPart {
    case value(JSONValue)
    /// A number that does not fit into a ``JSONValue/integer(_:)``.
    case unsigned(UInt64)
    case node(JSONNode)

    init(_ number: Double) throws {
        guard number.isFinite else {
            let context = EncodingError.Context(codingPath: [], debugDescription: "JSON has no infinite numbers and no NaN")
            throw EncodingError.invalidValue(number, context)
        }
        self = .value(.number(number))
    }

    init(_ number: some BinaryInteger) {
        self = Int64(exactly: number).map { .value(.integer($0)) } ?? .unsigned(UInt64(truncatingIfNeeded: number))
    }

    /// Encodes a value of any type, in the same form as Foundation's encoder.
    init<T: Encodable>(_ value: T, _ userInfo: [CodingUserInfoKey: Any]) throws {
        if T.self == String.self, let text = value as? String {
            self = .value(.string(text))
        } else if T.self == Date.self, let date = value as? Date {
            try self.init(date.timeIntervalSinceReferenceDate)
        } else if T.self == URL.self, let url = value as? URL {
            self = .value(.string(url.absoluteString))
        } else if T.self == Data.self, let data = value as? Data {
            self = .value(.string(data.base64EncodedString()))
        } else {
            let node = JSONNode()
            try value.encode(to: JSONNodeEncoder(node: node, userInfo: userInfo))
            self = node.single ?? .node(node)
        }
    }
}

/// A value that is being encoded: an object, an array, or a single value.
final class JSONNode {
    /// The single value; nil for an object and an array.
    var single: JSONPart?
    /// The members, as the value has encoded them; of two with the same name the last counts.
    var members: [(name: String, part: JSONPart)] = []
    /// The elements; nil for an object.
    var elements: [JSONPart]?
}

extension JSONWriter {
    mutating func write(_ part: JSONPart) {
        switch part {
        case .value(let value): write(value)
        case .unsigned(let number): write(unsigned: number)
        case .node(let node):
            if let single = node.single {
                write(single)
            } else if let elements = node.elements {
                writeArray(elements) { $0.write($1) }
            } else {
                writeObject(Self.sorted(node.members)) { $0.write($1) }
            }
        }
    }

    /// Returns the members in the order of their names, each name once.
    private static func sorted(_ members: [(name: String, part: JSONPart)]) -> [(name: String, part: JSONPart)] {
        if members.count < 2 { return members }
        let sorted = members.sorted { $0.name < $1.name }
        guard sorted.indices.dropFirst().contains(where: { sorted[$0].name == sorted[$0 - 1].name }) else { return sorted }
        let last = Dictionary(members.map { ($0.name, $0.part) }, uniquingKeysWith: { $1 })
        return last.sorted { $0.key < $1.key }.map { (name: $0.key, part: $0.value) }
    }
}

/// The encoder that a value encodes itself to.
struct JSONNodeEncoder: Encoder {
    let node: JSONNode
    let userInfo: [CodingUserInfoKey: Any]
    var codingPath: [any CodingKey] { [] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if node.members.isEmpty { node.members.reserveCapacity(8) }
        return KeyedEncodingContainer(JSONObjectContainer<Key>(node: node, userInfo: userInfo))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if node.elements == nil { node.elements = [] }
        return JSONArrayContainer(node: node, userInfo: userInfo)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        JSONSingleContainer(node: node, userInfo: userInfo)
    }

    /// Encodes a value that is JSON already.
    func encode(_ value: JSONValue) { node.single = .value(value) }
}

private struct JSONObjectContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: JSONNode
    let userInfo: [CodingUserInfoKey: Any]
    var codingPath: [any CodingKey] { [] }

    private func add(_ part: JSONPart, _ key: any CodingKey) { node.members.append((key.stringValue, part)) }

    private func nested(_ key: any CodingKey) -> JSONNodeEncoder {
        let child = JSONNode()
        add(.node(child), key)
        return JSONNodeEncoder(node: child, userInfo: userInfo)
    }

    func encodeNil(forKey key: Key) { add(.value(.null), key) }
    func encode(_ value: Bool, forKey key: Key) { add(.value(.bool(value)), key) }
    func encode(_ value: String, forKey key: Key) { add(.value(.string(value)), key) }
    func encode(_ value: Double, forKey key: Key) throws { add(try JSONPart(value), key) }
    func encode(_ value: Float, forKey key: Key) throws { add(try JSONPart(value.shortestDouble), key) }
    func encode(_ value: Int, forKey key: Key) { add(JSONPart(value), key) }
    func encode(_ value: Int8, forKey key: Key) { add(JSONPart(value), key) }
    func encode(_ value: Int16, forKey key: Key) { add(JSONPart(value), key) }
    func encode(_ value: Int32, forKey key: Key) { add(JSONPart(value), key) }
    func encode(_ value: Int64, forKey key: Key) { add(JSONPart(value), key) }
    func encode(_ value: UInt, forKey key: Key) { add(JSONPart(value), key) }
    func encode(_ value: UInt8, forKey key: Key) { add(JSONPart(value), key) }
    func encode(_ value: UInt16, forKey key: Key) { add(JSONPart(value), key) }
    func encode(_ value: UInt32, forKey key: Key) { add(JSONPart(value), key) }
    func encode(_ value: UInt64, forKey key: Key) { add(JSONPart(value), key) }
    func encode<T: Encodable>(_ value: T, forKey key: Key) throws { add(try JSONPart(value, userInfo), key) }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
        nested(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { nested(key).unkeyedContainer() }
    func superEncoder() -> any Encoder { nested(JSONKey(stringValue: "super")) }
    func superEncoder(forKey key: Key) -> any Encoder { nested(key) }
}

private struct JSONArrayContainer: UnkeyedEncodingContainer {
    let node: JSONNode
    let userInfo: [CodingUserInfoKey: Any]
    var codingPath: [any CodingKey] { [] }
    var count: Int { node.elements?.count ?? 0 }

    private func add(_ part: JSONPart) { node.elements?.append(part) }

    private func nested() -> JSONNodeEncoder {
        let child = JSONNode()
        add(.node(child))
        return JSONNodeEncoder(node: child, userInfo: userInfo)
    }

    func encodeNil() { add(.value(.null)) }
    func encode<T: Encodable>(_ value: T) throws { add(try JSONPart(value, userInfo)) }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        nested().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nested().unkeyedContainer() }
    func superEncoder() -> any Encoder { nested() }
}

private struct JSONSingleContainer: SingleValueEncodingContainer {
    let node: JSONNode
    let userInfo: [CodingUserInfoKey: Any]
    var codingPath: [any CodingKey] { [] }

    func encodeNil() { node.single = .value(.null) }
    func encode(_ value: Bool) { node.single = .value(.bool(value)) }
    func encode(_ value: String) { node.single = .value(.string(value)) }
    func encode(_ value: Double) throws { node.single = try JSONPart(value) }
    func encode(_ value: Float) throws { node.single = try JSONPart(value.shortestDouble) }
    func encode(_ value: Int) { node.single = JSONPart(value) }
    func encode(_ value: Int8) { node.single = JSONPart(value) }
    func encode(_ value: Int16) { node.single = JSONPart(value) }
    func encode(_ value: Int32) { node.single = JSONPart(value) }
    func encode(_ value: Int64) { node.single = JSONPart(value) }
    func encode(_ value: UInt) { node.single = JSONPart(value) }
    func encode(_ value: UInt8) { node.single = JSONPart(value) }
    func encode(_ value: UInt16) { node.single = JSONPart(value) }
    func encode(_ value: UInt32) { node.single = JSONPart(value) }
    func encode(_ value: UInt64) { node.single = JSONPart(value) }
    func encode<T: Encodable>(_ value: T) throws { node.single = try JSONPart(value, userInfo) }
}

extension Float {
    /// The number whose shortest text is the shortest text of this one.
    fileprivate var shortestDouble: Double { Double(description) ?? Double(self) }
}
