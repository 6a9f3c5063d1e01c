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
        /// The token isn't a signed JWT.
        public static let form = Code(rawValue: "form")
        /// The token is unsigned, or signed with an algorithm that is not accepted.
        public static let algorithm = Code(rawValue: "algorithm")
        /// The signature does not match any of the server's keys.
        public static let signature = Code(rawValue: "signature")
        /// The issuer (`iss`) is another server.
        public static let issuer = Code(rawValue: "issuer")
        /// The audience (`aud`) does not contain this client.
        public static let audience = Code(rawValue: "audience")
        /// The authorized party (`azp`) is another client, or it is missing although there are several audiences.
        public static let authorizedParty = Code(rawValue: "authorizedParty")
        /// The token has expired, or has no expiry time.
        public static let expired = Code(rawValue: "expired")
        /// The token's `iat` or `nbf` is in the future: the server's clock or this machine's clock is wrong.
        public static let notYetValid = Code(rawValue: "notYetValid")
        /// The nonce belongs to another request.
        public static let nonce = Code(rawValue: "nonce")
        /// The `at_hash` belongs to another access token.
        public static let accessTokenHash = Code(rawValue: "accessTokenHash")
        /// The subject is missing, or differs from the subject before the refresh.
        public static let subject = Code(rawValue: "subject")
        /// The server's keys that verify the token are not available, and a retry cannot help.
        public static let keys = Code(rawValue: "keys")

        /// All codes of this version.
        public static let allCases: [Code] = [
            .form, .algorithm, .signature, .issuer, .audience, .authorizedParty, .expired, .notYetValid, .nonce, .accessTokenHash,
            .subject, .keys,
        ]

        /// The name of the code, for logs and scripts.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The kind of the error.
    public let code: Code
    /// A description of the error.
    public var description: String { "the id_token was refused: \(code.rawValue)" }

    /// Creates an error.
    public init(_ code: Code) { self.code = code }
}

/// The rules for the claims of an id_token whose signature has been verified.
package struct IDTokenRules: Sendable, Hashable {
    /// The required issuer.
    package let issuer: String
    /// The required audience.
    package let clientID: String
    /// The nonce that was sent; nil when none was sent.
    package let nonce: String?
    /// The access token that came with the id_token; nil when the id_token came alone.
    package let accessToken: Secret?
    /// The required subject: after a refresh, the same user as before (section 12.2); nil after a login.
    package let subject: String?
    /// The accepted difference between two clocks, in seconds.
    package static let leeway: Double = 60

    package init(issuer: String, clientID: String, nonce: String?, accessToken: Secret?, subject: String? = nil) {
        self.issuer = issuer
        self.clientID = clientID
        self.nonce = nonce
        self.accessToken = accessToken
        self.subject = subject
    }

    /// Checks the claims.
    /// - Parameters:
    ///   - claims: The claims of the id_token.
    ///   - algorithm: The `alg` of the header.
    ///   - now: The current time, by the server's clock if its response gave the time.
    /// - Throws: ``IDTokenError``.
    package func check(_ claims: [String: JSONValue], algorithm: String, now: Date) throws(IDTokenError) {
        guard let theirs = claims["iss"]?.string, theirs == issuer else { throw IDTokenError(.issuer) }
        let audience = claims["aud"]?.string.map { [$0] } ?? claims["aud"]?.array?.compactMap(\.string) ?? []
        guard audience.contains(clientID) else { throw IDTokenError(.audience) }
        let party = claims["azp"]?.string
        guard party == nil ? audience.count == 1 : party == clientID else { throw IDTokenError(.authorizedParty) }
        try Self.checkTimes(claims, now: now.timeIntervalSince1970, requiresEnd: true)
        guard nonce == nil || claims["nonce"]?.string.map({ ConstantTime.areEqual($0, nonce ?? "") }) ?? false else {
            throw IDTokenError(.nonce)
        }
        guard let name = claims["sub"]?.string, !name.isEmpty, subject == nil || name == subject else {
            throw IDTokenError(.subject)
        }
        if let hash = claims["at_hash"], let accessToken {
            guard let hash = hash.string, let ours = Self.hash(of: accessToken, algorithm: algorithm),
                ConstantTime.areEqual(hash, ours)
            else { throw IDTokenError(.accessTokenHash) }
        }
    }

    /// Checks the times of a token.
    /// - Parameters:
    ///   - claims: The claims of the token.
    ///   - now: The current time, in seconds since 1970.
    ///   - requiresEnd: True when a token without an expiry time is refused.
    /// - Throws: ``IDTokenError``.
    static func checkTimes(_ claims: [String: JSONValue], now: Double, requiresEnd: Bool) throws(IDTokenError) {
        func time(_ name: String) -> Double? {
            switch claims[name] {
            case .integer(let seconds): Double(seconds)
            case .number(let seconds): seconds
            default: nil
            }
        }
        if requiresEnd || claims["exp"] != nil {
            guard let end = time("exp"), now < end + leeway else { throw IDTokenError(.expired) }
        }
        for name in ["iat", "nbf"] {
            guard time(name).map({ $0 <= now + leeway }) ?? true else { throw IDTokenError(.notYetValid) }
        }
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
