import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Accounts, mechanisms and notifications in the JSON of the ForgeRock SDK for Android and of the legacy one for iOS
/// (protocol/authenticator.md section 7.2). The SDKs write single objects, and each app decides how to combine them. The reader
/// therefore recognizes each object by its members. Objects may be in lists, in objects under any names, inside each other, in
/// strings that contain JSON, or one per line.
enum LegacySDKFile {
    private static let format = ImportFormat.forgerock
    /// The maximum depth of nesting. Apps do not nest their objects deeper.
    private static let deepest = 8
    /// The members of a record whose JSON or text comes from an issuer, a server or the user. They never contain records of the
    /// app.
    private static let ownMembers: Set<String> = [
        "issuer", "accountName", "displayIssuer", "displayAccountName", "policies", "message", "customPayload", "contextInfo",
        "claims",
    ]

    /// The type of an object in a file.
    private enum Record {
        case account(JSONMembers)
        case mechanism(JSONMembers)
        case notification(JSONMembers)
        case deviceToken
        /// An object that may have been meant as one of these types, with the reason why it cannot be read.
        case unknown(String)

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
                self = .unknown("it has not the members of an account, a mechanism or a notification")
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
        var accounts: [JSONMembers] = []
        var mechanisms: [JSONMembers] = []
        var notifications: [JSONMembers] = []
        var gathering = ImportGathering()
        var (count, unknown) = (0, 0)
        for document in try documents(bytes) {
            try forEachRecord(in: document) { record throws(ImportError) in
                count += 1
                guard count <= ImportFormat.maxEntries else {
                    throw ImportError(.tooLarge, format, "file", "more than \(ImportFormat.maxEntries) entries")
                }
                switch record {
                case .account(let members): accounts.append(members)
                case .mechanism(let members): mechanisms.append(members)
                case .notification(let members): notifications.append(members)
                case .deviceToken: gathering.leaveOut("device token")
                case .unknown(let detail):
                    unknown += 1
                    gathering.skip(SkippedEntry("entry without a name", type: "unknown", .invalid, detail))
                }
            }
        }
        guard count > unknown else { throw format.malformed("file", "it holds no account, mechanism or notification") }
        for account in accounts { add(account: account, to: &gathering) }
        for mechanism in mechanisms { add(mechanism: mechanism, policy: policy, to: &gathering) }
        for notification in notifications { add(notification: notification, to: &gathering) }
        return gathering.content
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
        guard depth <= deepest else { return try body(.unknown("it stands deeper than \(deepest) levels")) }
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
                return text.opening == UInt8(ascii: "{") ? try body(.unknown("it is JSON inside of a string, and broken")) : ()
            }
            try forEachRecord(in: json, depth: depth + 1, body)
        default: break
        }
    }

    // MARK: Accounts

    /// The error for a record that cannot be imported.
    private struct Fault: Error {
        let detail: String
    }

    private static func id(_ members: JSONMembers) throws(Fault) -> AccountID {
        guard let issuer = try text(members, "issuer"), let name = try text(members, "accountName") else {
            throw Fault(detail: "issuer or accountName: required, and not there")
        }
        return AccountID(issuer: issuer, accountName: name)
    }

    /// Returns a text that is safe to show; nil when the member is absent or empty.
    private static func text(_ members: JSONMembers, _ name: String) throws(Fault) -> String? {
        guard let text = members[name]?.string, !text.isEmpty else { return nil }
        guard text.isSafeToShow else {
            throw Fault(detail: "\(name): it contains control characters or changes the direction of the text")
        }
        return text
    }

    /// Returns a date that is stored as milliseconds since 1970.
    private static func date(_ members: JSONMembers, _ name: String) -> Date? {
        members[name]?.wholeNumber.map { Date(timeIntervalSince1970: Double($0) / 1000) }
    }

    private static func reportName(_ members: JSONMembers) -> String {
        guard let issuer = members["issuer"]?.string, let name = members["accountName"]?.string else {
            return "entry without a name"
        }
        return AccountID(issuer: issuer, accountName: name).reportName
    }

    private static func add(account members: JSONMembers, to gathering: inout ImportGathering) {
        do throws(Fault) {
            let id = try id(members)
            let displayIssuer = try text(members, "displayIssuer")
            let displayAccountName = try text(members, "displayAccountName")
            let image = try text(members, "imageURL")
            let lock = try lock(members)
            let policies = try policies(members)
            let color = try text(members, "backgroundColor").map { "#" + $0.drop { $0 == "#" } }
            gathering.describe(id) { account in
                // The SDKs write the enrollment names as display names when the user chose no others.
                account.displayIssuer = displayIssuer == id.issuer ? nil : displayIssuer
                account.displayAccountName = displayAccountName == id.accountName ? nil : displayAccountName
                account.imageURL = image
                account.backgroundColor = color
                account.timeAdded = date(members, "timeAdded")
                account.policies = policies
                account.lockingPolicy = lock
            }
        } catch {
            if let id = try? id(members) { gathering.refuse(id) }
            gathering.skip(SkippedEntry(reportName(members), type: "account", .invalid, error.detail))
        }
    }

    /// Returns the policy of a lock. A locked account stays locked, even when the policy's name is missing.
    private static func lock(_ members: JSONMembers) throws(Fault) -> String? {
        guard members["lock"]?.bool == true else { return nil }
        return try text(members, "lockingPolicy") ?? "unknown"
    }

    /// Returns the policies, which are JSON inside a string. Policies protect the account, so an account with unreadable policies
    /// is rejected; its policies are never dropped.
    private static func policies(_ members: JSONMembers) throws(Fault) -> [String: JSONValue] {
        guard let value = members["policies"], value.string != "" else { return [:] }
        let parsed = value.string.map { text in try? JSON.value(of: text.utf8) } ?? value
        guard let policies = parsed?.object, parsed?.isStorable == true else {
            throw Fault(detail: "policies: not JSON text of an object")
        }
        return policies
    }

    // MARK: Mechanisms

    private static func add(mechanism members: JSONMembers, policy: EndpointPolicy, to gathering: inout ImportGathering) {
        let type = members["type"]?.string?.lowercased() ?? ""
        let isPush = type == "pushauth" || type == "push"
        do throws(Fault) {
            let id = try id(members)
            guard let uid = try text(members, "mechanismUID") else { throw Fault(detail: "mechanismUID: it is empty") }
            var mechanism: ImportedMechanism
            if isPush {
                mechanism = ImportedMechanism(kind: .push(try push(members, policy: policy)))
            } else {
                switch code(members, id: id).mechanism() {
                case .success(let made): mechanism = made
                case .failure(let skipped): return gathering.skip(skipped.entry)
                }
            }
            mechanism.uid = uid
            mechanism.timeAdded = date(members, "timeAdded")
            mechanism.userID = try text(members, "uid")
            mechanism.resourceID = try text(members, "resourceId")
            gathering.add(mechanism, to: id)
        } catch {
            gathering.skip(SkippedEntry(reportName(members), type: isPush ? "push" : "unknown", .invalid, error.detail))
        }
    }

    private static func code(_ members: JSONMembers, id: AccountID) -> ForeignCode {
        var code = ForeignCode(number: 0)
        (code.issuer, code.account) = (id.issuer, id.accountName)
        let type = members["oathType"]?.string ?? members["type"]?.string
        code.type = type
        code.setSecret(base32: members["secret"]?.string)
        code.algorithm = members["algorithm"]?.string
        code.digits = members["digits"]?.wholeNumber
        code.period = members["period"]?.wholeNumber
        // The Android SDK increments the counter before it generates a code, so the stored counter is already used. That SDK
        // writes the type in capitals.
        let stored = members["counter"]?.wholeNumber
        code.counter = type == "HOTP" ? stored.map { $0 < .max ? $0 + 1 : $0 } : stored
        return code
    }

    private static func push(_ members: JSONMembers, policy: EndpointPolicy) throws(Fault) -> PushSettings {
        guard let secret = members["secret"]?.string.flatMap({ try? Base64.decode($0) }) else {
            throw Fault(detail: "secret: not base64")
        }
        guard secret.count >= 32 else { throw Fault(detail: "secret: shorter than 32 bytes") }
        var cookie: String?
        if let text = try text(members, "loadBalancer") {
            guard let readable = LoadBalancerCookie.text(from: text) else {
                throw Fault(detail: "loadBalancer: not a cookie name and value")
            }
            cookie = readable
        }
        let registration = try endpoint(members, "registrationEndpoint", policy)
        // Signet's own FRAuthenticator module writes these three members in addition to those of the SDKs.
        let server = try optionalEndpoint(members, "deskEndpoint", policy)
        if let server, !server.hasSameOrigin(as: registration) {
            throw Fault(detail: "deskEndpoint: not at the server that the device was registered with")
        }
        return PushSettings(
            secret: Secret(secret), registrationEndpoint: registration,
            authenticationEndpoint: try endpoint(members, "authenticationEndpoint", policy), loadBalancerCookie: cookie,
            streamEndpoint: server, platform: try text(members, "platform"),
            gatewayEndpoint: try optionalEndpoint(members, "frontEndpoint", policy))
    }

    private static func endpoint(_ members: JSONMembers, _ name: String, _ policy: EndpointPolicy) throws(Fault) -> Endpoint {
        guard let endpoint = try optionalEndpoint(members, name, policy) else {
            throw Fault(detail: "\(name): required, and not there")
        }
        return endpoint
    }

    private static func optionalEndpoint(
        _ members: JSONMembers, _ name: String, _ policy: EndpointPolicy
    ) throws(Fault) -> Endpoint? {
        guard let text = members[name]?.string else { return nil }
        do {
            return try Endpoint(text, policy: policy)
        } catch {
            throw Fault(detail: "\(name): \(error.description)")
        }
    }

    // MARK: Notifications

    private static func add(notification members: JSONMembers, to gathering: inout ImportGathering) {
        do throws(PushMessageError) {
            guard let id = members["messageId"]?.string, !id.isEmpty, id.isSafeToShow else { throw .claim("messageId") }
            guard let received = date(members, "timeAdded") else { throw .claim("timeAdded") }
            let message = try PushMessage(claims: claims(members))
            var decision: PushNotification.Decision?
            if members["pending"]?.bool == false { decision = members["approved"]?.bool == true ? .approved : .denied }
            gathering.add(PushNotification(messageID: id, message: message, receivedAt: received, decision: decision))
        } catch {
            gathering.skip(SkippedEntry("notification", type: "notification", .invalid, error.description))
        }
    }

    /// Returns the claims of the received message under their names in the protocol.
    private static func claims(_ members: JSONMembers) throws(PushMessageError) -> [String: JSONValue] {
        func text(_ name: String) -> String? { members[name]?.string }
        var cookie: String?
        if let value = members["amlbCookie"], value != .string("") {
            guard let readable = value.string.flatMap(LoadBalancerCookie.text) else { throw .claim("amlbCookie") }
            cookie = readable
        }
        var claims = Dictionary(texts: [
            "u": text("mechanismUID"), "c": text("challenge"), "k": text("pushType"), "m": text("message"),
            "n": text("numbersChallenge"), "p": text("customPayload"), "x": text("contextInfo"),
            "l": cookie.map { Base64.encode(Array($0.utf8), as: .standard) },
        ])
        if let value = members["ttl"] {
            guard let seconds = value.wholeNumber else { throw .claim("ttl") }
            claims["t"] = .string(String(seconds))
        }
        claims["i"] = members["timeAdded"]?.wholeNumber.map { .string(String($0)) }
        return claims
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
