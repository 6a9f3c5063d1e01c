import Crypto

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// An error that reports an invalid id_token (OpenID Connect Core section 3.1.3.7).
public struct IDTokenError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of the error.
    ///
    /// Its raw value appears in descriptions.
    public struct Code: ErrorCode {
        /// The token isn't a signed JWT, or the response has none although the client requested the scope `openid`.
        public static let form = Code(rawValue: "form")
        /// The token is unsigned, or signed with an algorithm that is not accepted.
        public static let algorithm = Code(rawValue: "algorithm")
        /// The signature does not match any of the server's keys.
        public static let signature = Code(rawValue: "signature")
        /// The issuer (`iss`) is another server.
        public static let issuer = Code(rawValue: "issuer")
        /// The audience (`aud`) does not contain this client, contains another audience that the client doesn't trust, or has a
        /// member that isn't text.
        public static let audience = Code(rawValue: "audience")
        /// The authorized party (`azp`) is another client or isn't text, or it is missing although there are several audiences.
        public static let authorizedParty = Code(rawValue: "authorizedParty")
        /// The token has expired, or has no expiry time.
        public static let expired = Code(rawValue: "expired")
        /// The time of issue (`iat`) is missing or isn't a number.
        public static let issuedAt = Code(rawValue: "issuedAt")
        /// The token's `iat` or `nbf` is in the future, because the server's clock or this machine's clock is wrong, or `nbf`
        /// isn't a number.
        public static let notYetValid = Code(rawValue: "notYetValid")
        /// The nonce belongs to another request, or differs from the nonce before the refresh.
        public static let nonce = Code(rawValue: "nonce")
        /// The `at_hash` belongs to another access token.
        public static let accessTokenHash = Code(rawValue: "accessTokenHash")
        /// The subject is missing, has more than 255 bytes, or differs from the subject before the refresh.
        public static let subject = Code(rawValue: "subject")
        /// The time of the authentication (`auth_time`) is missing or too early although the client requested `max_age`.
        public static let authenticationTime = Code(rawValue: "authenticationTime")
        /// The authentication context class (`acr`) is missing or differs from those that the client requested with `acr_values`.
        public static let authenticationContext = Code(rawValue: "authenticationContext")
        /// The server's keys that verify the token are not available, and a retry cannot help.
        public static let keys = Code(rawValue: "keys")

        /// All codes of this version.
        public static let allCases: [Code] = [
            .form, .algorithm, .signature, .issuer, .audience, .authorizedParty, .expired, .issuedAt, .notYetValid, .nonce,
            .accessTokenHash, .subject, .authenticationTime, .authenticationContext, .keys,
        ]

        /// The name of the code, for logs and scripts.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The kind of the error.
    public let code: Code
    /// The reason and the setting that accepts such an id_token, for people; nil when there is nothing to add to the code.
    public let explanation: String?
    /// A description of the error.
    public var description: String {
        "the id_token was refused: \(code.rawValue)" + (explanation.map { ": \($0)" } ?? "")
    }

    /// Creates an error.
    /// - Parameters:
    ///   - code: The kind of the error.
    ///   - explanation: The reason for people, without secrets; nil when there is nothing to add to the code.
    public init(_ code: Code, explanation: String? = nil) {
        self.code = code
        self.explanation = explanation
    }
}

/// The rules for the claims of an id_token whose signature has been verified.
package struct IDTokenRules: Sendable, Hashable {
    /// The required issuer.
    package let issuer: String
    /// The required audience.
    package let clientID: String
    /// The other audiences that the token may have.
    package let trustedAudiences: [String]
    /// The nonce that was sent; nil when none was sent.
    package let nonce: String?
    /// The access token that came with the id_token; nil when the id_token came alone.
    package let accessToken: Secret?
    /// The claims before a refresh; nil after a login.
    package let previous: Previous?
    /// The authentication that the client requested; nil when it requested none.
    package let requested: RequestedAuthentication?
    /// The accepted difference between two clocks, in seconds.
    package static let leeway: Double = 60
    /// The largest difference between the time in a server's response and the time of this machine, in seconds: 18 hours.
    ///
    /// A clock that shows the local time of any time zone as UTC is wrong by at most 14 hours (UTC-12 to UTC+14), and 4 hours are
    /// left for a clock that is also slow or fast. A clock with a wrong date is beyond the limit. The times of an id_token are then
    /// checked by the clock of this machine (OpenID Connect Core section 3.1.3.7), so that a server can't extend the lifetime of an
    /// id_token without a limit.
    package static let maximumClockDifference: Double = 64_800
    /// The maximum length of a subject, in bytes (OpenID Connect Core section 2).
    private static let maximumSubjectLength = 255

    /// The claims of the stored id_token with which those of a new one are compared after a refresh (OpenID Connect Core section
    /// 12.2).
    package struct Previous: Sendable, Hashable {
        fileprivate let subject: String
        fileprivate let nonce: String?
        fileprivate let authenticationTime: Double?
        fileprivate let audiences: [String]

        /// Reads the claims of the stored id_token.
        /// - Throws: ``IDTokenError`` with the code `subject` when they have no subject, because a response about an unknown
        ///   subject can't be compared with it.
        package init(_ claims: [String: JSONValue]) throws(IDTokenError) {
            guard let subject = claims["sub"]?.string else { throw IDTokenError(.subject) }
            self.subject = subject
            nonce = claims["nonce"]?.string
            authenticationTime = IDTokenRules.seconds(claims["auth_time"])
            audiences = IDTokenRules.audience(claims["aud"]) ?? []
        }

        /// Compares the subject and the nonce of the new id_token.
        ///
        /// The nonce may be missing in either of the two.
        fileprivate func check(_ claims: [String: JSONValue]) throws(IDTokenError) {
            guard claims["sub"]?.string.map({ IDTokenRules.areEqual($0, subject) }) ?? false else { throw IDTokenError(.subject) }
            if let nonce, let theirs = IDTokenRules.present(claims["nonce"]) {
                guard theirs.string.map({ ConstantTime.areEqual($0, nonce) }) ?? false else { throw IDTokenError(.nonce) }
            }
        }

        /// Returns true when the new id_token has the same time of the authentication, or one of the two has none.
        fileprivate func hasSameAuthentication(as claims: [String: JSONValue]) -> Bool {
            guard let authenticationTime, let theirs = IDTokenRules.present(claims["auth_time"]) else { return true }
            return IDTokenRules.seconds(theirs) == authenticationTime
        }
    }

    package init(
        issuer: String, clientID: String, trustedAudiences: [String] = [], nonce: String?, accessToken: Secret?,
        previous: Previous? = nil, requested: RequestedAuthentication? = nil
    ) {
        self.issuer = issuer
        self.clientID = clientID
        self.trustedAudiences = trustedAudiences
        self.nonce = nonce
        self.accessToken = accessToken
        self.previous = previous
        self.requested = requested
    }

    /// Checks the claims of the id_token of a login.
    /// - Parameters:
    ///   - claims: The claims of the id_token.
    ///   - algorithm: The `alg` of the header.
    ///   - now: The current time (``time(of:at:)``).
    /// - Throws: ``IDTokenError``.
    package func check(_ claims: [String: JSONValue], algorithm: String, now: Date) throws(IDTokenError) {
        let audience = try checkParties(claims)
        if let other = untrusted(in: audience) {
            throw IDTokenError(
                .audience,
                explanation: "it is also for the audience \"\(OAuthError.plain(other))\"; a client that trusts it needs it in "
                    + "client.trustedAudiences")
        }
        try Self.checkTimes(claims, now: now.timeIntervalSince1970, areRequired: true)
        try checkGrant(claims, algorithm: algorithm)
        try requested?.check(claims, now: now)
    }

    /// Checks the claims of the id_token of a refresh, whose tokens replace the stored ones.
    ///
    /// Another user, client or issuer, and a token that belongs to another response, are errors. Some providers name another time
    /// of the authentication at each refresh, or an audience that is new, and the clock of this machine may be wrong: then the new
    /// tokens are used, and the stored id_token stays.
    /// - Parameters:
    ///   - claims: The claims of the id_token.
    ///   - algorithm: The `alg` of the header.
    ///   - now: The current time (``time(of:at:)``).
    ///   - clocksDiffer: True when the time of the server's response wasn't used (``isTooFar(_:from:)``).
    /// - Returns: True when the id_token replaces the stored one.
    /// - Throws: ``IDTokenError``.
    package func isReplacement(
        _ claims: [String: JSONValue], algorithm: String, now: Date, clocksDiffer: Bool = false
    ) throws(IDTokenError) -> Bool {
        let audience = try checkParties(claims)
        let time = now.timeIntervalSince1970
        // Of the two clocks, either may be the wrong one, so the claims need the right types only.
        try Self.checkTimes(claims, now: clocksDiffer ? nil : time, areRequired: true)
        try checkGrant(claims, algorithm: algorithm)
        guard untrusted(in: audience) == nil, previous?.hasSameAuthentication(as: claims) ?? true else { return false }
        return (try? Self.checkTimes(claims, now: time, areRequired: true)) != nil
    }

    /// Checks the claims about the server and the client.
    /// - Returns: The audiences.
    private func checkParties(_ claims: [String: JSONValue]) throws(IDTokenError) -> [String] {
        guard let theirs = claims["iss"]?.string, Self.areEqual(theirs, issuer) else { throw IDTokenError(.issuer) }
        guard let audience = Self.audience(claims["aud"]), Self.contains(audience, clientID) else {
            throw IDTokenError(.audience)
        }
        if let party = Self.present(claims["azp"]) {
            guard party.string.map({ Self.areEqual($0, clientID) }) ?? false else { throw IDTokenError(.authorizedParty) }
        } else {
            guard audience.count == 1 else { throw IDTokenError(.authorizedParty) }
        }
        return audience
    }

    /// Returns the first audience that is neither the client nor trusted; nil when all are trusted.
    ///
    /// After a refresh, the audiences of the stored id_token are trusted too.
    private func untrusted(in audience: [String]) -> String? {
        let trusted = trustedAudiences + (previous?.audiences ?? [])
        return audience.first { !Self.areEqual($0, clientID) && !Self.contains(trusted, $0) }
    }

    /// Checks the claims about the user, the authorization request and the access token.
    private func checkGrant(_ claims: [String: JSONValue], algorithm: String) throws(IDTokenError) {
        guard nonce == nil || claims["nonce"]?.string.map({ ConstantTime.areEqual($0, nonce ?? "") }) ?? false else {
            throw IDTokenError(.nonce)
        }
        _ = try Self.subject(of: claims)
        try previous?.check(claims)
        if let hash = claims["at_hash"], let accessToken {
            guard let hash = hash.string, let ours = Self.hash(of: accessToken, algorithm: algorithm),
                ConstantTime.areEqual(hash, ours)
            else { throw IDTokenError(.accessTokenHash) }
        }
    }

    /// Returns the value of an optional claim; nil for null, which counts as missing.
    static func present(_ value: JSONValue?) -> JSONValue? { value == JSONValue.null ? nil : value }

    /// Returns the audiences of a token; nil when the value is neither text nor a list of texts.
    static func audience(_ value: JSONValue?) -> [String]? {
        if let name = value?.string { return [name] }
        guard let members = value?.array else { return nil }
        let names = members.compactMap(\.string)
        return names.count == members.count ? names : nil
    }

    /// Returns the subject of a token.
    /// - Throws: ``IDTokenError`` when it is missing, empty or too long.
    static func subject(of claims: [String: JSONValue]) throws(IDTokenError) -> String {
        guard let subject = claims["sub"]?.string, !subject.isEmpty, subject.utf8.count <= maximumSubjectLength else {
            throw IDTokenError(.subject)
        }
        return subject
    }

    /// Returns true when a list contains a text, byte for byte.
    static func contains(_ texts: [String], _ text: String) -> Bool { texts.contains { areEqual($0, text) } }

    /// Compares bytes, because `==` also accepts other spellings of a character.
    package static func areEqual(_ left: String, _ right: String) -> Bool { left.utf8.elementsEqual(right.utf8) }

    /// Returns the number of a time claim, in seconds since 1970; nil when the value isn't a finite number.
    static func seconds(_ value: JSONValue?) -> Double? {
        switch value {
        case .integer(let seconds)?: Double(seconds)
        case .number(let seconds)?: seconds.isFinite ? seconds : nil
        default: nil
        }
    }

    /// Checks the times of a token.
    /// - Parameters:
    ///   - claims: The claims of the token.
    ///   - now: The current time, in seconds since 1970; nil to check only that the values are numbers.
    ///   - areRequired: True when a token without an expiry time or without a time of issue is refused.
    ///   - leeway: The accepted difference between two clocks, in seconds.
    /// - Throws: ``IDTokenError``.
    static func checkTimes(
        _ claims: [String: JSONValue], now: Double?, areRequired: Bool, leeway: Double = leeway
    ) throws(IDTokenError) {
        if areRequired || claims["exp"] != nil {
            guard let end = seconds(claims["exp"]), (now ?? -.infinity) < end + leeway else { throw IDTokenError(.expired) }
        }
        if areRequired || claims["iat"] != nil {
            guard let issued = seconds(claims["iat"]) else { throw IDTokenError(.issuedAt) }
            guard issued <= (now ?? .infinity) + leeway else { throw IDTokenError(.notYetValid) }
        }
        if let start = claims["nbf"] {
            guard let start = seconds(start), start <= (now ?? .infinity) + leeway else { throw IDTokenError(.notYetValid) }
        }
    }

    /// Returns the time by which a token is checked: that of the server's response, so that a wrong clock of this machine causes no
    /// refusal, within ``maximumClockDifference``.
    /// - Parameters:
    ///   - response: The time in the response; nil when it has none.
    ///   - now: The time of this machine when the response arrived.
    /// - Returns: The time in the response, or `now` when the response has none or its time differs too much.
    package static func time(of response: Date?, at now: Date) -> Date {
        guard let response, !isTooFar(response, from: now) else { return now }
        return response
    }

    /// Returns true when the time in a response differs too much from the time of this machine.
    /// - Parameters:
    ///   - response: The time in the response; nil when it has none.
    ///   - now: The time of this machine when the response arrived.
    /// - Returns: True for a difference of more than ``maximumClockDifference``.
    package static func isTooFar(_ response: Date?, from now: Date) -> Bool {
        guard let response else { return false }
        return abs(response.timeIntervalSince(now)) > maximumClockDifference
    }

    /// Returns the `at_hash` of a token: the left half of its hash with the hash function of the signature algorithm (section
    /// 3.1.3.6), in base64url; nil for an unknown algorithm.
    package static func hash(of token: Secret, algorithm: String) -> String? {
        token.withUnsafeBytes { bytes in
            let digest: [UInt8]
            switch algorithm {
            case "RS256", "ES256", "PS256": digest = Array(SHA256.hash(data: bytes))
            case "RS384", "ES384", "PS384": digest = Array(SHA384.hash(data: bytes))
            case "RS512", "ES512", "PS512", "EdDSA": digest = Array(SHA512.hash(data: bytes))
            default: return nil
            }
            return Base64.encode(digest.prefix(digest.count / 2), as: .url)
        }
    }

    /// The accepted signature algorithms, which are asymmetric.
    ///
    /// `none` and the algorithms with a shared key are not accepted.
    package static let algorithms: Set<String> = [
        "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
    ]
}
