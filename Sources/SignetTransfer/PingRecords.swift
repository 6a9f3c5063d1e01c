import Foundation
import SignetCore
import SignetStorage

/// The credentials and notifications of Ping's modules in the keychain: JSON, one item each.
///
/// PingOath keeps the secret of a credential in an item of its own, which has the same name. The items are not sealed by a
/// key of the app.
enum PingRecords {
    private static let oath = "com.pingidentity.oath"
    private static let oathSecrets = "com.pingidentity.oath.secrets"
    private static let push = "com.pingidentity.push.credentials"
    private static let notifications = "com.pingidentity.push.notifications"
    private static let tokens = "com.pingidentity.push.tokens"

    /// The names of the services.
    static let services = [oath, push, notifications]

    static func read(
        _ store: any LegacyStore, policy: EndpointPolicy, into builder: inout ImportBuilder
    ) throws(StoreError) {
        var secrets: [String: Data] = [:]
        for item in try items(store, oathSecrets) { secrets[item.name] = item.content }
        for item in try items(store, oath) {
            add(item, type: "oath", policy: policy, to: &builder) { members throws(JSONMemberError) in
                guard let secret = secrets[item.name].flatMap({ String(strictUTF8: $0) }) else {
                    throw JSONMemberError(name: "secret", "is missing in the keychain")
                }
                return try self.oath(members, secret: secret)
            }
        }
        for item in try items(store, push) { add(item, type: "push", policy: policy, to: &builder, record: self.push) }
        for item in try items(store, notifications) {
            do throws(JSONMemberError) {
                LegacySDKFile.add(notification: JSONMembers(try notification(try members(item))), to: &builder)
            } catch {
                builder.skip(SkippedEntry("notification", type: "notification", error))
            }
        }
        for _ in try items(store, tokens) { builder.leaveOut("device token") }
    }

    private static func items(_ store: any LegacyStore, _ service: String) throws(StoreError) -> [LegacyItem] {
        let items = try store.items(of: service, sealedBy: nil)
        guard items.count <= ImportFormat.maxEntries else {
            throw StoreError(.invalid, "take over accounts", "more than \(ImportFormat.maxEntries) items of one kind")
        }
        return items
    }

    private static func members(_ item: LegacyItem) throws(JSONMemberError) -> JSONMembers {
        guard let content = item.content, let members = try? JSON.members(of: content) else {
            throw JSONMemberError(name: "item", "is not JSON")
        }
        return members
    }

    /// Adds a credential with its account.
    ///
    /// Each credential has its own copy of the account's lock and policies, and all of them apply to the account.
    private static func add(
        _ item: LegacyItem, type: String, policy: EndpointPolicy, to builder: inout ImportBuilder,
        record: (JSONMembers) throws(JSONMemberError) -> [String: JSONValue]
    ) {
        do throws(JSONMemberError) {
            let record = JSONMembers(try record(try members(item)))
            let account = try Account(forgeRock: record)
            let mechanism = try Mechanism(forgeRock: record, policy: policy, defaultTime: .distantPast)
            var imported = ImportedAccount(id: account.id)
            (imported.displayIssuer, imported.displayAccountName) = (account.displayIssuer, account.displayAccountName)
            (imported.imageURL, imported.backgroundColor) = (account.imageURL, account.backgroundColor)
            (imported.policies, imported.lockingPolicy) = (account.policies, account.lockingPolicy)
            imported.timeAdded = record.forgeRockTimeAdded
            builder.describe(account.id) { $0.merge(imported) }
            builder.add(
                mechanism, timeAdded: record.forgeRockTimeAdded, assumesSHA1: record["algorithm"]?.string == nil)
        } catch {
            let id = (try? members(item)).flatMap { try? AccountID(forgeRock: $0) }
            builder.skip(SkippedEntry(id?.reportName ?? "item of Ping's SDK", type: type, error))
        }
    }

    /// The members of a credential that both kinds have, under the names of the ForgeRock SDK.
    private static func common(_ members: JSONMembers) throws(JSONMemberError) -> [String: JSONValue] {
        let id = try members.text("id")
        var record: [String: JSONValue] = ["mechanismUID": .string(id)]
        for name in [
            "issuer", "displayIssuer", "accountName", "displayAccountName", "imageURL", "backgroundColor", "policies",
            "lockingPolicy",
        ] {
            record[name] = members[name]
        }
        record["lock"] = members["isLocked"]
        record["uid"] = members["userId"]
        // A credential without a resource id has its own id in its place.
        if let resource = try members.optionalText("resourceId"), !resource.isEmpty, resource != id {
            record["resourceId"] = .string(resource)
        }
        record["timeAdded"] = try time(members, "createdAt")
        return record
    }

    private static func oath(_ members: JSONMembers, secret: String) throws(JSONMemberError) -> [String: JSONValue] {
        var record = try common(members)
        // In lower case: the counter is that of the next code.
        record["type"] = .string(try members.text("oathType").lowercased())
        record["secret"] = .string(secret)
        record["algorithm"] = members["oathAlgorithm"]
        for name in ["digits", "period", "counter"] { record[name] = members[name] }
        return record
    }

    private static func push(_ members: JSONMembers) throws(JSONMemberError) -> [String: JSONValue] {
        var record = try common(members)
        let endpoint = try members.text("serverEndpoint")
        record["type"] = .string("push")
        record["secret"] = members["sharedSecret"]
        record["registrationEndpoint"] = .string(endpoint + "?_action=register")
        record["authenticationEndpoint"] = .string(endpoint + "?_action=authenticate")
        guard try members.optionalText("platform") ?? "pingam" == "pingam" else {
            throw JSONMemberError(name: "platform", "is not that of PingAM", isUnsupported: true)
        }
        return record
    }

    private static func notification(_ members: JSONMembers) throws(JSONMemberError) -> [String: JSONValue] {
        var record: [String: JSONValue] = [:]
        for (name, member) in [
            "mechanismUID": "credentialId", "messageId": "messageId", "message": "messageText", "ttl": "ttl",
            "customPayload": "customPayload", "challenge": "challenge", "numbersChallenge": "numbersChallenge",
            "amlbCookie": "loadBalancer", "contextInfo": "contextInfo", "pushType": "pushType", "approved": "approved",
            "pending": "pending",
        ] {
            record[name] = members[member]
        }
        record["receivedAt"] = try time(members, "createdAt")
        record["timeAdded"] = try time(members, "sentAt") ?? record["receivedAt"]
        return record
    }

    /// Returns a time in milliseconds since 1970: PingPush writes ISO 8601, and PingOath the seconds since 2001.
    private static func time(_ members: JSONMembers, _ name: String) throws(JSONMemberError) -> JSONValue? {
        let date: Date
        switch members[name] {
        case nil, .null?: return nil
        case .string(let text)?:
            guard let parsed = try? Date(text, strategy: .iso8601) else { throw JSONMemberError(name: name, "is not a time") }
            date = parsed
        default: date = Date(timeIntervalSinceReferenceDate: try members.optionalNumber(name) ?? 0)
        }
        guard let time = Int64(exactly: (date.timeIntervalSince1970 * 1000).rounded()) else {
            throw JSONMemberError(name: name, "is not a plausible time")
        }
        return .integer(time)
    }
}
