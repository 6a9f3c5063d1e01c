import SignetCore

/// The JSON of the Credential Exchange Format (CXF) 1.0 of the FIDO Alliance.
///
/// It has accounts of password managers, with items, with credentials of many types. The credentials of the type `totp` are
/// imported, with the note of their item; the others are counted by their type. The encrypted transfer between two apps (Credential Exchange Protocol) is not
/// read.
///
/// Source: "Credential Exchange Format", Proposed Standard, August 14, 2025, sections 2 and 3.
/// https://fidoalliance.org/specs/cx/cxf-v1.0-ps-20250814.html
enum CXFFile {
    private static let format = ImportFormat.cxf
    private static let newestVersion: Int64 = 1
    private static let maxDepth = 16
    /// The other types of credentials (section 3.3), by the name under which a report counts them.
    private static let otherTypes = [
        "address": "address", "api-key": "API key", "basic-auth": "password", "credit-card": "credit card",
        "custom-fields": "custom field", "drivers-license": "driver's license", "file": "file",
        "generated-password": "password", "identity-document": "identity document", "item-reference": "reference",
        "note": "note", "passkey": "passkey", "passport": "passport", "person-name": "name", "ssh-key": "SSH key",
        "wifi": "Wi-Fi network",
    ]

    static func recognizes(_ json: JSONValue) -> Bool {
        json["version"]?["major"] != nil && json["exporterRpId"] != nil && json["accounts"]?.array != nil
    }

    static func read(_ bytes: [UInt8]) throws(ImportError) -> ImportContent {
        let file = try format.json(bytes)
        guard let version = file["version"]?["major"]?.lenientInteger, version >= 0 else {
            throw format.malformed("version", "not a version")
        }
        guard version <= newestVersion else {
            throw ImportError(
                .newerVersion, format, "version",
                "version \(version) is newer than \(newestVersion), the newest that Signet reads")
        }
        var builder = ImportBuilder()
        var count = 0
        for account in try format.entries(file["accounts"], part: "accounts") {
            let items = try format.entries(account["items"], part: "items")
            count += items.count
            guard count <= ImportFormat.maxEntries else {
                throw ImportError(.tooLarge, format, "items", "more than \(ImportFormat.maxEntries) entries")
            }
            var groups: [String: [String]] = [:]
            gather(account["collections"], depth: 0, into: &groups)
            for (index, item) in items.enumerated() {
                let names = item["id"]?.string.flatMap { groups[$0] } ?? []
                try add(item, number: count - items.count + index + 1, groups: names, to: &builder)
            }
        }
        return builder.content
    }

    /// Gathers the titles of the collections that have each item, by the item's id, also of collections in collections.
    private static func gather(_ collections: JSONValue?, depth: Int, into groups: inout [String: [String]]) {
        guard depth < maxDepth else { return }
        for collection in collections?.array ?? [] {
            guard let title = text(collection["title"]) else { continue }
            for item in collection["items"]?.array ?? [] {
                if let id = item["item"]?.string { groups[id, default: []].append(title) }
            }
            gather(collection["subCollections"], depth: depth + 1, into: &groups)
        }
    }

    private static func add(
        _ item: JSONValue, number: Int, groups: [String], to builder: inout ImportBuilder
    ) throws(ImportError) {
        let credentials = try format.entries(item["credentials"], part: "credentials")
        let isOfCodes = credentials.contains { $0["type"]?.string == "totp" }
        var details = ImportedDetails()
        for name in groups + (item["tags"]?.array ?? []).compactMap(\.string) { details.addGroup(name) }
        let userName = credentials.first(where: { $0["type"]?.string == "basic-auth" })?["username"]?["value"]?.string
        for credential in credentials {
            let type = credential["type"]?.string ?? ""
            guard type != "note" || !isOfCodes else {
                details.setNote(credential["content"]?["value"]?.string)
                continue
            }
            if type != "totp" { builder.leaveOut(otherTypes[type] ?? "unknown credential") }
        }
        for credential in credentials where credential["type"]?.string == "totp" {
            var code = ImportedCode(number: number, secret: credential["secret"], parameters: credential)
            code.type = "totp"
            code.issuer = text(credential["issuer"]) ?? text(item["title"])
            code.account = text(credential["username"]) ?? userName ?? text(item["subtitle"])
            code.details = details
            code.add(to: &builder)
        }
    }

    /// Returns a text that is not empty.
    private static func text(_ value: JSONValue?) -> String? { value?.string.flatMap { $0.isEmpty ? nil : $0 } }
}
