import HTTPTypes
import SignetCore

/// The documents of AM about scripts.
enum ScriptDocument {
    /// Returns the document of a script of a journey.
    /// - Parameters:
    ///   - id: The id.
    ///   - name: The name.
    ///   - source: The source in JavaScript.
    ///   - context: The use of the script, as AM names it.
    /// - Returns: The document.
    static func value(id: String, name: String, source: String, context: String) -> JSONValue {
        .object([
            "_id": .string(id), "name": .string(name), "description": .string(""),
            "script": .string(Base64.encode(Array(source.utf8), as: .standard)), "language": .string("JAVASCRIPT"),
            "context": .string(context), "default": .bool(false), "evaluatorVersion": .string("1.0"),
            "createdBy": .string("null"), "creationDate": .integer(0), "lastModifiedBy": .string("null"),
            "lastModifiedDate": .integer(0),
        ])
    }

    /// Returns the document of a script as it is stored.
    /// - Throws: ``APIError`` with status 400 when a member that AM requires is missing, or when the source is too large.
    static func stored(_ body: JSONValue, id: String) throws(APIError) -> JSONValue {
        var members = body.object ?? [:]
        members["_rev"] = nil
        members["_id"] = .string(id)
        guard let name = members["name"]?.string, !name.isEmpty, name.count <= ImportLimits().nameLength else {
            throw APIError(.badRequest, "Script name cannot be empty or longer than \(ImportLimits().nameLength) characters")
        }
        guard let source = members["script"]?.string, let bytes = try? Base64.decode(source) else {
            throw APIError(.badRequest, "The script must be base64 encoded")
        }
        guard bytes.count <= ImportLimits().scriptSize else {
            throw APIError(.badRequest, "The script is larger than \(ImportLimits().scriptSize >> 10) KiB")
        }
        members["language"] = members["language"] ?? .string("JAVASCRIPT")
        members["default"] = .bool(false)
        return .object(members)
    }
}
