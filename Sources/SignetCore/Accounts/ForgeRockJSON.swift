#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

// The reader of the JSON that the ForgeRock SDKs for iOS and Android write with `toJson()` (protocol/authenticator.md
// section 7.2). The import and the FRAuthenticator module both use it. Where a record leaves a doubt, it gives the safe reading:
// locked rather than unlocked, a skipped counter rather than a repeated one, an error rather than a default.

extension JSONMembers {
    /// The time at which a record of the ForgeRock SDKs was added; nil when it has none.
    ///
    /// The SDK for Android stores none for an account that came from a URI.
    package var forgeRockTimeAdded: Date? { date("timeAdded") }

    /// Returns a time that is stored as milliseconds since 1970, as a number or a string.
    fileprivate func date(_ name: String) -> Date? {
        if case .number(let milliseconds) = self[name] { return Date(timeIntervalSince1970: milliseconds / 1000) }
        return self[name]?.lenientInteger.map { Date(timeIntervalSince1970: Double($0) / 1000) }
    }

    /// Returns a text that is safe to show; nil when the member is absent or empty.
    fileprivate func safeText(_ name: String) throws(JSONMemberError) -> String? {
        guard let text = try optionalText(name), !text.isEmpty else { return nil }
        guard text.isSafeToShow else {
            throw JSONMemberError(name: name, "contains control characters or changes the direction of the text")
        }
        return text
    }

    fileprivate func requiredText(_ name: String) throws(JSONMemberError) -> String {
        guard let text = try safeText(name) else { throw JSONMemberError(name: name) }
        return text
    }

    /// Returns an integer, which may be written as a string.
    fileprivate func lenientInteger(_ name: String) throws(JSONMemberError) -> Int64? {
        guard let value = self[name] else { return nil }
        guard let number = value.lenientInteger else { throw JSONMemberError(name: name, "is not an integer") }
        return number
    }

    fileprivate func bytes(
        _ name: String, _ decode: (String) throws(InvalidEncoding) -> [UInt8]
    ) throws(JSONMemberError) -> [UInt8] {
        let text = try requiredText(name)
        do throws(InvalidEncoding) {
            return try decode(text)
        } catch {
            throw JSONMemberError(name: name, error)
        }
    }

    /// Returns a routing cookie, which is plain text, or base64 as the server sent it.
    fileprivate func cookie(_ name: String) throws(JSONMemberError) -> String? {
        guard let text = try safeText(name) else { return nil }
        guard let cookie = LoadBalancerCookie.text(from: text) else {
            throw JSONMemberError(name: name, "is not a cookie name and value")
        }
        return cookie
    }

    /// Returns an address.
    ///
    /// Without a policy it is read as an address that was checked before it was stored.
    fileprivate func endpoint(_ name: String, _ policy: EndpointPolicy?) throws(JSONMemberError) -> Endpoint? {
        guard let url = try optionalText(name) else { return nil }
        do throws(EndpointError) {
            return if let policy { try Endpoint(url, policy: policy) } else { try Endpoint(stored: url) }
        } catch {
            throw JSONMemberError(name: name, "can't be used: \(error.description)")
        }
    }
}

extension AccountID {
    /// Reads the identity of an account from any record of the ForgeRock SDKs.
    /// - Throws: ``JSONMemberError``.
    package init(forgeRock members: JSONMembers) throws(JSONMemberError) {
        self.init(issuer: try members.requiredText("issuer"), accountName: try members.requiredText("accountName"))
    }
}

extension Account {
    /// Reads an account of the ForgeRock SDKs.
    ///
    /// An account without a time sorts before all others.
    /// - Throws: ``JSONMemberError`` for the first member that is missing or can't be used.
    package init(forgeRock members: JSONMembers) throws(JSONMemberError) {
        let id = try AccountID(forgeRock: members)
        // The SDKs write the names of the enrollment when the user chose no others.
        let (displayIssuer, displayName) = (try members.safeText("displayIssuer"), try members.safeText("displayAccountName"))
        // A locked account stays locked, even when the policy's name is missing.
        let lock = try members.optionalBool("lock") == true ? try members.safeText("lockingPolicy") ?? "unknown" : nil
        self.init(
            id: id, displayIssuer: displayIssuer == id.issuer ? nil : displayIssuer,
            displayAccountName: displayName == id.accountName ? nil : displayName,
            imageURL: try members.safeText("imageURL"),
            // The SDK for iOS writes the color without the number sign.
            backgroundColor: try members.safeText("backgroundColor").map { "#" + $0.drop { $0 == "#" } },
            timeAdded: members.forgeRockTimeAdded ?? Date(timeIntervalSince1970: 0), policies: try Self.policies(members),
            lockingPolicy: lock)
    }

    /// Returns the policies, which are JSON inside a string.
    ///
    /// Policies protect the account, so policies that can't be read are an error.
    private static func policies(_ members: JSONMembers) throws(JSONMemberError) -> [String: JSONValue] {
        guard let value = members["policies"], value.string != "" else { return [:] }
        let parsed = value.string.map { text in try? JSON.value(of: text.utf8) } ?? value
        guard let parsed, parsed.isStorable, let policies = parsed.object else {
            throw JSONMemberError(name: "policies", "is not the JSON text of an object")
        }
        return policies
    }
}

extension Mechanism {
    /// Reads a mechanism of the ForgeRock SDKs.
    /// - Parameters:
    ///   - members: The members of the JSON object.
    ///   - policy: The policy for permitted servers; nil for a record that this package has checked before it stored it.
    ///   - defaultTime: The time of enrollment of a mechanism without one; nil when the time is required.
    /// - Throws: ``JSONMemberError`` for the first member that is missing or can't be used.
    package init(
        forgeRock members: JSONMembers, policy: EndpointPolicy? = nil, defaultTime: Date? = nil
    ) throws(JSONMemberError) {
        let account = try AccountID(forgeRock: members)
        let uid = try members.requiredText("mechanismUID")
        let type = try members.optionalText("type")
        let kind: Kind
        switch type?.lowercased() {
        case "pushauth", "push": kind = .push(try PushSettings(forgeRock: members, policy: policy))
        case "otpauth", "totp", "hotp", nil:
            kind = .oath(try OATHSettings(forgeRock: members, type: try members.optionalText("oathType") ?? type))
        default: kind = .oath(try OATHSettings(forgeRock: members, type: type))
        }
        guard let timeAdded = members.forgeRockTimeAdded ?? defaultTime else { throw JSONMemberError(name: "timeAdded") }
        self.init(
            uid: uid, account: account, kind: kind, timeAdded: timeAdded,
            userID: try members.safeText("uid"), resourceID: try members.safeText("resourceId"))
    }
}

extension OATHSettings {
    fileprivate init(forgeRock members: JSONMembers, type: String?) throws(JSONMemberError) {
        // The SDK for Android increments the counter before it generates a code, so the stored counter is already used. That SDK
        // writes the type in uppercase.
        var counter = try Self.counter(members)
        if type == "HOTP", let used = counter {
            guard used < .max else { throw JSONMemberError(name: "counter", "has reached its end") }
            counter = used + 1
        }
        try self.init(
            type: type, secret: try members.bytes("secret") { text throws(InvalidEncoding) in try Base32.decode(text) },
            algorithm: try members.optionalText("algorithm"), digits: try members.lenientInteger("digits"),
            period: try members.lenientInteger("period"), counter: counter)
    }

    /// Returns the counter, an unsigned 64-bit number.
    ///
    /// Above the signed range only a string is exact: JSON readers round numbers.
    private static func counter(_ members: JSONMembers) throws(JSONMemberError) -> UInt64? {
        guard let value = members["counter"] else { return nil }
        let counter = value.string.map { UInt64($0) } ?? value.lenientInteger.flatMap { UInt64(exactly: $0) }
        guard let counter else { throw JSONMemberError(name: "counter", "is not an exact integer of 0 or more") }
        return counter
    }

    /// Creates settings from the members of another program's record.
    ///
    /// An absent algorithm, number of digits or period has its default. An absent counter has none, because a counter that starts
    /// again would repeat codes.
    /// - Parameters:
    ///   - type: `totp`, `hotp` or `steam`, in any case. With `steam` the number of digits is ignored.
    ///   - secret: The shared secret, which must not be empty.
    ///   - algorithm: The name of the hash algorithm; nil for SHA-1.
    ///   - digits: The number of digits, from 4 to 10; nil for 6.
    ///   - period: The time in seconds for which a TOTP code is valid; nil for 30.
    ///   - counter: The counter of the next HOTP code. Only `hotp` needs it.
    /// - Throws: ``JSONMemberError`` with the names of the parameters.
    package init(
        type: String?, secret: [UInt8], algorithm: String?, digits: Int64?, period: Int64?, counter: UInt64?
    ) throws(JSONMemberError) {
        self.init(secret: Secret(secret))
        let isSteam = type?.lowercased() == "steam"
        switch type?.lowercased() {
        case "totp", "steam":
            guard let period = period.map({ Int(exactly: $0).flatMap { OTPPeriod(seconds: $0) } }) ?? .thirtySeconds else {
                throw JSONMemberError(name: "period", "is not a number of seconds of 1 or more, or too large")
            }
            factor = .time(period: period)
        case "hotp":
            guard let counter else { throw JSONMemberError(name: "counter", "is missing or below 0") }
            factor = .counter(next: counter)
        default: throw JSONMemberError(name: "type", "is neither totp, hotp nor steam", isUnsupported: true)
        }
        guard !secret.isEmpty else { throw JSONMemberError(name: "secret", "is empty") }
        guard let algorithm = algorithm.map({ OTPAlgorithm(spelling: $0) }) ?? .sha1 else {
            throw JSONMemberError(name: "algorithm", "is not SHA1, SHA256 or SHA512", isUnsupported: true)
        }
        let length = isSteam ? nil : digits
        guard let digits = length.map({ Int(exactly: $0).flatMap { OTPDigits($0) } }) ?? .six else {
            throw JSONMemberError(name: "digits", "is not a number from 4 to 10", isUnsupported: true)
        }
        (self.algorithm, self.digits) = (algorithm, digits)
        guard isSteam else { return }
        guard let steam = asSteam else {
            throw JSONMemberError(
                name: "type", "is steam, with another hash function or period than Steam's codes have", isUnsupported: true)
        }
        self = steam
    }
}

extension PushSettings {
    fileprivate init(forgeRock members: JSONMembers, policy: EndpointPolicy?) throws(JSONMemberError) {
        func required(_ name: String) throws(JSONMemberError) -> Endpoint {
            guard let endpoint = try members.endpoint(name, policy) else { throw JSONMemberError(name: name) }
            return endpoint
        }
        let secret = try members.bytes("secret") { text throws(InvalidEncoding) in try Base64.decode(text) }
        guard secret.count >= 32 else { throw JSONMemberError(name: "secret", "is shorter than 32 bytes") }
        let registration = try required("registrationEndpoint")
        // Signet's own FRAuthenticator module writes the last three members in addition to those of the SDKs.
        let stream = try members.endpoint("deskEndpoint", policy)
        guard stream?.hasSameOrigin(as: registration) ?? true else {
            throw JSONMemberError(name: "deskEndpoint", "is not at the server that the device was registered with")
        }
        self.init(
            secret: Secret(secret), registrationEndpoint: registration,
            authenticationEndpoint: try required("authenticationEndpoint"),
            loadBalancerCookie: try members.cookie("loadBalancer"), streamEndpoint: stream,
            platform: try members.safeText("platform"), gatewayEndpoint: try members.endpoint("frontEndpoint", policy))
    }
}

extension PushNotification {
    /// Reads a push message of the ForgeRock SDKs, which was verified when it arrived.
    /// - Throws: ``JSONMemberError`` for the first member that is missing or can't be used.
    package init(forgeRock members: JSONMembers) throws(JSONMemberError) {
        let uid = try members.requiredText("mechanismUID")
        let messageID = try members.requiredText("messageId")
        guard let timeAdded = members.forgeRockTimeAdded else { throw JSONMemberError(name: "timeAdded") }
        let message: PushMessage
        let claims = try Self.claims(members, uid, sentAt: timeAdded)
        do throws(PushMessageError) {
            message = try PushMessage(claims: claims)
        } catch {
            throw JSONMemberError(name: error.forgeRockMember, "can't be used (\(error.description))")
        }
        guard message.mechanismUID == uid else { throw JSONMemberError(name: "claims", "name another mechanism") }
        var decision: Decision?
        if try members.optionalBool("pending") == false {
            decision = try members.optionalBool("approved") == true ? .approved : .denied
        }
        let offset = try members.optionalNumber("clockOffset")
        guard abs(offset ?? 0) <= Self.maxClockOffset else {
            throw JSONMemberError(name: "clockOffset", "is not a plausible difference between two clocks")
        }
        self.init(
            messageID: messageID, message: message, receivedAt: members.date("receivedAt") ?? timeAdded, decision: decision,
            clockOffset: offset)
    }

    /// Returns the claims of the received message under their names in the protocol: the original ones, which only Signet's
    /// FRAuthenticator module stores, or those that the members contain.
    private static func claims(
        _ members: JSONMembers, _ uid: String, sentAt: Date
    ) throws(JSONMemberError) -> [String: JSONValue] {
        if let claims = try members.optionalObject("claims")?.all {
            guard JSONValue.object(claims).isStorable else { throw JSONMemberError(name: "claims", "are nested too deep") }
            return claims
        }
        let cookie = try members.cookie("amlbCookie").map { Base64.encode(Array($0.utf8), as: .standard) }
        var claims = Dictionary(texts: [
            "u": uid, "c": try members.optionalText("challenge"), "k": try members.optionalText("pushType"),
            "m": try members.optionalText("message"), "n": try members.optionalText("numbersChallenge"),
            "p": try members.optionalText("customPayload"), "x": try members.optionalText("contextInfo"), "l": cookie,
        ])
        claims["t"] = try members.lenientInteger("ttl").map { .integer($0) }
        claims["i"] = Int64(exactly: (sentAt.timeIntervalSince1970 * 1000).rounded()).map { .integer($0) }
        return claims
    }
}

extension PushMessageError {
    /// The member of the ForgeRock SDKs that contains the claim at fault.
    fileprivate var forgeRockMember: String {
        guard let claim else { return "claims" }
        let names = [
            "c": "challenge", "i": "timeAdded", "l": "amlbCookie", "n": "numbersChallenge", "t": "ttl", "u": "mechanismUID",
        ]
        return names[claim] ?? claim
    }
}
