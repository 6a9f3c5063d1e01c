import Foundation
import SignetCore

/// Accounts, mechanisms and notifications in the JSON of the ForgeRock SDK for Android and of the legacy one for iOS
/// (protocol/authenticator.md section 7.2).
///
/// The SDKs write single objects, and each app decides how to combine them. The reader therefore recognizes each object by its
/// members. Objects may be in lists, in objects under any names, inside each other, in strings that contain JSON, or one per
/// line.
enum LegacySDKFile {
    private static let format = ImportFormat.forgerock
    /// The maximum depth of nesting.
    ///
    /// Apps do not nest their objects deeper.
    private static let maxDepth = 8
    /// The members of a record whose JSON or text comes from an issuer, a server or the user.
    ///
    /// They never contain records of the app.
    private static let ownMembers: Set<String> = [
        "issuer", "accountName", "displayIssuer", "displayAccountName", "policies", "message", "customPayload", "contextInfo",
        "claims",
    ]

    /// The type of an object in a file.
    enum Record {
        case account(JSONMembers)
        case mechanism(JSONMembers)
        case notification(JSONMembers)
        case deviceToken
        /// An object that may have been meant as one of these types, with the reason why it cannot be read.
        case unknown(String)

        /// True unless the object is of an unknown type.
        var isKnown: Bool { if case .unknown = self { false } else { true } }

        /// Creates a record from an object; returns nil for an object that only wraps others.
        init?(_ members: [String: JSONValue]) {
            func has(_ names: String...) -> Bool { names.allSatisfy { members[$0] != nil } }
            if has("mechanismUID", "secret") || has("mechanismUID", "type") {
                self = .mechanism(JSONMembers(members))
            } else if has("mechanismUID", "messageId") {
                self = .notification(JSONMembers(members))
            } else if has("issuer", "accountName") {
                self = .account(JSONMembers(members))
            } else if has("tokenId") {
                self = .deviceToken
            } else if !members.isEmpty, members.values.allSatisfy(\.isPlain) {
                // An object that contains no other object and lacks the members of the known types.
                self = .unknown("it has the members of neither an account, a mechanism nor a notification")
            } else {
                return nil
            }
        }
    }

    static func recognizes(_ json: JSONValue) -> Bool {
        var isThere = false
        try? forEachRecord(in: json) { record in
            if case .unknown = record { return }
            isThere = true
        }
        return isThere
    }

    /// Returns true when the first line is an object with a known record.
    static func isListOfObjects(_ bytes: [UInt8]) -> Bool {
        guard let line = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1).first else { return false }
        return (try? JSON.value(of: line)).map(recognizes) ?? false
    }

    static func read(_ bytes: [UInt8], policy: EndpointPolicy) throws(ImportError) -> ImportContent {
        var records: [Record] = []
        for document in try documents(bytes) {
            try forEachRecord(in: document) { record throws(ImportError) in
                guard records.count < ImportFormat.maxEntries else {
                    throw ImportError(.tooLarge, format, "file", "more than \(ImportFormat.maxEntries) entries")
                }
                records.append(record)
            }
        }
        guard records.contains(where: \.isKnown) else {
            throw format.malformed("file", "it holds no account, mechanism or notification")
        }
        var builder = ImportBuilder()
        add(records, policy: policy, to: &builder)
        return builder.content
    }

    /// Adds records to the content of a file: first the accounts, because their locks decide about the others.
    static func add(_ records: [Record], policy: EndpointPolicy, to builder: inout ImportBuilder) {
        for record in records {
            switch record {
            case .account(let members): add(account: members, to: &builder)
            case .deviceToken: builder.leaveOut("device token")
            case .unknown(let detail):
                builder.skip(SkippedEntry("entry without a name", type: "unknown", .invalid, detail))
            case .mechanism, .notification: break
            }
        }
        for case .mechanism(let members) in records { add(mechanism: members, policy: policy, to: &builder) }
        for case .notification(let members) in records { add(notification: members, to: &builder) }
    }

    private static func documents(_ bytes: [UInt8]) throws(ImportError) -> [JSONValue] {
        if let json = try? JSON.value(of: bytes) { return [json] }
        var documents: [JSONValue] = []
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() where line.contains(where: { $0 > 0x20 }) {
            do {
                documents.append(try JSON.value(of: line))
            } catch {
                throw format.malformed("line \(index + 1)", "neither the file nor this line is JSON")
            }
        }
        return documents
    }

    private static func forEachRecord(
        in value: JSONValue, depth: Int = 0, _ body: (Record) throws(ImportError) -> Void
    ) throws(ImportError) {
        guard !value.isPlain else { return }
        guard depth <= maxDepth else { return try body(.unknown("it is nested deeper than \(maxDepth) levels")) }
        switch value {
        case .object(let members):
            let record = Record(members)
            if let record { try body(record) }
            // An app may nest records inside a record.
            for (name, member) in members.sorted(by: { $0.key < $1.key }) where record == nil || !ownMembers.contains(name) {
                try forEachRecord(in: member, depth: depth + 1, body)
            }
        case .array(let elements):
            for element in elements { try forEachRecord(in: element, depth: depth + 1, body) }
        case .string(let text):
            guard let json = try? JSON.value(of: text.utf8) else {
                // A string that begins with a bracket may be ordinary text. A string that begins with a brace is taken for broken
                // JSON.
                return text.opening == UInt8(ascii: "{") ? try body(.unknown("it is a string with malformed JSON")) : ()
            }
            try forEachRecord(in: json, depth: depth + 1, body)
        default: break
        }
    }

    private static func add(account members: JSONMembers, to builder: inout ImportBuilder) {
        do throws(JSONMemberError) {
            builder.add(try Account(forgeRock: members), timeAdded: members.forgeRockTimeAdded)
        } catch {
            if let id = try? AccountID(forgeRock: members) { builder.refuse(id) }
            builder.skip(SkippedEntry(reportName(members), type: "account", error))
        }
    }

    static func add(mechanism members: JSONMembers, policy: EndpointPolicy, to builder: inout ImportBuilder) {
        do throws(JSONMemberError) {
            builder.add(
                try Mechanism(forgeRock: members, policy: policy, defaultTime: .distantPast),
                timeAdded: members.forgeRockTimeAdded, assumesSHA1: members["algorithm"]?.string == nil)
        } catch {
            let type = members["oathType"]?.string ?? members["type"]?.string
            builder.skip(SkippedEntry(reportName(members), type: SkippedEntry.shownType(type), error))
        }
    }

    static func add(notification members: JSONMembers, to builder: inout ImportBuilder) {
        do throws(JSONMemberError) {
            builder.add(try PushNotification(forgeRock: members))
        } catch {
            builder.skip(SkippedEntry("notification", type: "notification", error))
        }
    }

    private static func reportName(_ members: JSONMembers) -> String {
        (try? AccountID(forgeRock: members))?.reportName ?? "entry without a name"
    }
}

extension String {
    /// The first character that is not white space.
    fileprivate var opening: UInt8? { utf8.first { $0 > 0x20 } }
}

extension JSONValue {
    /// True when the value contains no other value, neither directly nor as JSON inside a string.
    fileprivate var isPlain: Bool {
        switch self {
        case .object, .array: false
        case .string(let text): ![UInt8(ascii: "{"), UInt8(ascii: "[")].contains(text.opening)
        default: true
        }
    }
}
