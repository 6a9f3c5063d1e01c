import Foundation
import SignetCore

/// The members of a request's or an answer's body.
enum RequestBody {
    /// Returns the members of a JSON object; nil when the text is something else.
    static func members(ofJSON body: some Sequence<UInt8>) -> [String: JSONValue]? {
        guard case .object(let members)? = try? JSON.value(of: Array(body)) else { return nil }
        return members
    }

    /// Returns the members of a body; empty when its type has none.
    static func members(of body: [UInt8], _ type: Request.ContentType) -> [String: JSONValue] {
        switch type {
        case .json: members(ofJSON: body) ?? [:]
        case .urlEncoded: FormCoding.decode(String(decoding: body, as: UTF8.self)).mapValues { .string($0) }
        case .plainText: [:]
        }
    }

    /// Returns the body with these members; empty for plain text.
    static func encode(_ members: [String: JSONValue], _ type: Request.ContentType) -> [UInt8] {
        guard !members.isEmpty else { return [] }
        switch type {
        case .json: return JSON.encode(.object(members))
        case .urlEncoded:
            let fields = members.sorted { $0.key < $1.key }.map { ($0.key, $0.value.string ?? JSON.text(of: $0.value)) }
            return Array(FormCoding.encode(fields).utf8)
        case .plainText: return []
        }
    }
}
