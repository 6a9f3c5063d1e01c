import Foundation
import SignetCore

/// Writes the JSON of the Credential Exchange Format (CXF) 1.0 of the FIDO Alliance, as ``CXFFile`` reads it.
///
/// Each mechanism is an item with one credential of the type `totp`, and the note of its account. The groups are tags.
///
/// Source: "Credential Exchange Format", Proposed Standard, August 14, 2025, sections 2 and 3.
/// https://fidoalliance.org/specs/cx/cxf-v1.0-ps-20250814.html
enum CXFWriter {
    /// The relying party id of the exporting program.
    ///
    /// Signet has no site, so it is a name that no site can have (RFC 6761).
    private static let exporterID = "signet.invalid"

    /// Returns a file.
    /// - Parameters:
    ///   - entries: The mechanisms, which this format can represent.
    ///   - now: The time of the export.
    /// - Returns: The bytes of the file.
    static func file(of entries: [ExportList.Entry], now: Date) -> [UInt8] {
        let account: [String: JSONValue] = [
            "id": identifier(), "username": .string(""), "email": .string(""), "collections": .array([]),
            "items": .array(entries.map(item)),
        ]
        return JSON.encode(
            .object([
                "version": .object(["major": .integer(1), "minor": .integer(0)]), "exporterRpId": .string(exporterID),
                "exporterDisplayName": .string("Signet"), "timestamp": seconds(now), "accounts": .array([.object(account)]),
            ]))
    }

    private static func item(_ entry: ExportList.Entry) -> JSONValue {
        let (id, settings) = (entry.account.id, entry.settings)
        var credential: [String: JSONValue] = [
            "type": .string("totp"), "secret": .string(Base32.encode(settings.secret.bytes)),
            "digits": .integer(Int64(settings.digits.count)), "username": .string(id.accountName),
            "algorithm": .string(settings.algorithm.rawValue.lowercased()), "issuer": .string(id.issuer),
        ]
        if case .time(let period) = settings.factor { credential["period"] = .integer(Int64(period.seconds)) }
        var credentials = [JSONValue.object(credential)]
        if let note = entry.account.note?.text {
            let content: [String: JSONValue] = ["fieldType": .string("string"), "value": .string(note)]
            credentials.append(.object(["type": .string("note"), "content": .object(content)]))
        }
        return .object([
            "id": identifier(), "creationAt": seconds(entry.mechanism.timeAdded), "title": .string(id.issuer),
            "subtitle": .string(id.accountName), "credentials": .array(credentials),
            "tags": .array(entry.account.groups.map { .string($0) }),
        ])
    }

    /// Returns a new random identifier.
    private static func identifier() -> JSONValue {
        .string(Base64.encode(Secret.random(byteCount: 16).bytes, as: .url))
    }

    /// Returns a time in seconds since 1970.
    private static func seconds(_ date: Date) -> JSONValue {
        .integer(Int64(exactly: date.timeIntervalSince1970.rounded(.down)).map { max($0, 0) } ?? 0)
    }
}
