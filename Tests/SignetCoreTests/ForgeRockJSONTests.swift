import Foundation
import SignetCore
import Testing

/// The JSON of the ForgeRock SDKs and its safe reading, row by row of `Vectors/forgerock.json`.
///
/// The tests of the import and of FRAuthenticator compare what they read from the same rows with this reader.
@Suite("The JSON of the ForgeRock SDKs")
struct ForgeRockJSONTests {
    static let accounts = Result { try Vectors.rows("forgerock", "accounts") }
    static let mechanisms = Result { try Vectors.rows("forgerock", "mechanisms") }
    static let notifications = Result { try Vectors.rows("forgerock", "notifications") }

    @Test("An account has the safe reading", arguments: try accounts.get())
    func readsAccountSafely(row: Vectors.Row) throws {
        try check(row) { members throws(JSONMemberError) in
            let account = try Account(forgeRock: members)
            return [
                "lockingPolicy": .text(account.lockingPolicy), "displayIssuer": .text(account.displayIssuer),
                "displayAccountName": .text(account.displayAccountName), "backgroundColor": .text(account.backgroundColor),
                "timeAdded": .time(account.timeAdded), "policies": .array(account.policies.keys.sorted().map { .string($0) }),
            ]
        }
    }

    @Test("A mechanism has the safe reading", arguments: try mechanisms.get())
    func readsMechanismSafely(row: Vectors.Row) throws {
        try check(row) { members throws(JSONMemberError) in
            let mechanism = try Mechanism(forgeRock: members, policy: .secure)
            var (counter, period) = (String?.none, Int?.none)
            switch mechanism.oath?.factor {
            case .counter(let next): counter = String(next)
            case .time(let length): period = length.seconds
            case nil: break
            }
            return [
                "kind": .string(mechanism.kindName.rawValue), "counter": .text(counter), "period": .whole(period),
                "digits": .whole(mechanism.oath?.digits.count), "algorithm": .text(mechanism.oath?.algorithm.rawValue),
                "loadBalancer": .text(mechanism.push?.loadBalancerCookie), "stream": .text(mechanism.push?.streamEndpoint?.url),
                "gateway": .text(mechanism.push?.gatewayEndpoint?.url), "platform": .text(mechanism.push?.platform),
            ]
        }
    }

    @Test("A push message has the safe reading", arguments: try notifications.get())
    func readsNotificationSafely(row: Vectors.Row) throws {
        try check(row) { members throws(JSONMemberError) in
            let notification = try PushNotification(forgeRock: members)
            var numbers: [Int] = []
            if case .number(let choices) = notification.message.kind { numbers = choices }
            return [
                "decision": .text(notification.decision?.rawValue), "timeToLive": .whole(notification.message.timeToLive),
                "receivedAt": .time(notification.receivedAt), "cookie": .text(notification.message.loadBalancerCookie),
                "numbers": .array(numbers.map { .whole($0) }),
                "clockOffset": notification.clockOffset.map { .number($0) } ?? .null,
            ]
        }
    }

    @Test("A message keeps the claims that Signet stored with it")
    func keepsClaimsOfStoredMessage() throws {
        let rows = try Self.notifications.get().filter { $0.members["json"]?["claims"]?["z"] != nil }
        let row = try #require(rows.first)
        let notification = try PushNotification(forgeRock: JSONMembers(try #require(row.members["json"]?.object)))
        #expect(notification.message.otherClaims == ["z": .string("kept")])
    }

    @Test("An address that a policy does not permit is refused, and a stored one is not checked again")
    func appliesEndpointPolicy() throws {
        let rows = try Self.mechanisms.get().filter { $0.members["name"] == .string("a push mechanism") }
        let row = try #require(rows.first)
        var members = try #require(row.members["json"]?.object)
        members["authenticationEndpoint"] = .string("http://am.example.test/a")
        let error = #expect(throws: JSONMemberError.self) { try Mechanism(forgeRock: JSONMembers(members), policy: .secure) }
        #expect(error?.name == "authenticationEndpoint")
        let stored = try Mechanism(forgeRock: JSONMembers(members))
        #expect(stored.push?.authenticationEndpoint.scheme == "http")
    }

    /// Compares the values of a reading with those that a row names, or the refused member with the row's.
    private func check(
        _ row: Vectors.Row, _ read: (JSONMembers) throws(JSONMemberError) -> [String: JSONValue]
    ) throws {
        let members = JSONMembers(try #require(row.members["json"]?.object))
        do throws(JSONMemberError) {
            let values = try read(members)
            let wanted = row.members["reads"]?.object ?? [:]
            #expect(row.members["refuses"] == nil)
            for (name, value) in wanted { #expect(values[name] == value, "\(name)") }
        } catch {
            #expect(row.members["refuses"] == .string(error.name), "\(error)")
        }
    }
}

extension JSONValue {
    fileprivate static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
    fileprivate static func whole(_ number: Int?) -> JSONValue { number.map { .integer(Int64($0)) } ?? .null }
    fileprivate static func time(_ date: Date) -> JSONValue { .integer(Int64((date.timeIntervalSince1970 * 1000).rounded())) }
}
