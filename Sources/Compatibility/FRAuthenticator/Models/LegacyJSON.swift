import Foundation
import SignetCore

/// The JSON form of the ForgeRock SDK's models: the members of protocol/authenticator.md section 7.2, as in the SDK for iOS.
///
/// Optional members are written as null. When read, they may be null or missing.
enum LegacyJSON {
    static func text(of members: [String: JSONValue]) -> String { JSON.text(of: .object(members)) }

    /// Reads a model from its JSON text.
    /// - Throws: `DecodingError` that names the model and, if one is at fault, the member. It never contains content.
    static func read<Value>(_ model: String, _ json: String, _ body: (JSONMembers) throws -> Value) throws -> Value {
        guard let members = (try? JSON.value(of: json.utf8))?.object else {
            throw unreadable(model, "it is not the text of a JSON object")
        }
        return try read(model, members, body)
    }

    static func read<Value>(_ model: String, from decoder: any Decoder, _ body: (JSONMembers) throws -> Value) throws -> Value {
        guard let members = try JSONValue(from: decoder).object else { throw unreadable(model, "it is not an object") }
        return try read(model, members, body)
    }

    private static func read<Value>(
        _ model: String, _ members: [String: JSONValue], _ body: (JSONMembers) throws -> Value
    ) throws -> Value {
        do {
            return try body(JSONMembers(members))
        } catch {
            throw unreadable(model, "\(error)")
        }
    }

    /// Returns the error for a model that can't be read.
    static func unreadable(_ model: String, _ reason: String) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: "\(model): \(reason)"))
    }
}

extension [String: JSONValue] {
    /// Creates members from optional strings.
    ///
    /// An absent string becomes null.
    init(textsOrNull texts: [String: String?]) {
        self = texts.mapValues { $0.map { JSONValue.string($0) } ?? .null }
    }
}

extension JSONValue {
    /// Returns a time as whole milliseconds since 1970.
    static func milliseconds(_ date: Date) -> JSONValue {
        Int64(exactly: (date.timeIntervalSince1970 * 1000).rounded()).map { JSONValue.integer($0) } ?? .null
    }
}
