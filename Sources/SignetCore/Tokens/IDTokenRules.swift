import Crypto

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Why an id_token was refused (OpenID Connect Core section 3.1.3.7).
public struct IDTokenError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong.
    public enum Code: String, Sendable, CaseIterable {
        /// It is no signed JWT.
        case form
        /// It is signed in a way that is not accepted, or not at all.
        case algorithm
        /// None of the server's keys made the signature.
        case signature
        /// Another server wrote it.
        case issuer
        /// It is for another client.
        case audience
        /// It was given to another client.
        case authorizedParty
        /// It has ended, or does not say when it ends.
        case expired
        /// It is from the future: the server's clock or this machine's is wrong.
        case notYetValid
        /// It answers another request.
        case nonce
        /// It belongs to another access token.
        case accessTokenHash
        /// It names nobody, or somebody else than the one before it.
        case subject
        /// The server's keys to check it with cannot be had, not even later.
        case keys
    }

    /// What is wrong.
    public let code: Code
    /// The same in words.
    public var description: String { "the id_token was refused: \(code.rawValue)" }

    /// An error as given.
    public init(_ code: Code) { self.code = code }
}

/// What the claims of an id_token must say once its signature has been checked.
package struct IDTokenRules: Sendable, Hashable {
    /// Who must have written it.
    package let issuer: String
    /// For whom it must be.
    package let clientID: String
    /// The nonce that was sent; nil when none was.
    package let nonce: String?
    /// The access token that came with it; nil when there was none.
    package let accessToken: Secret?
    /// Who must be named: after a refresh, the same person as before (section 12.2); nil after a login.
    package let subject: String?
    /// How far two clocks may be apart.
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
    ///   - algorithm: The header's `alg`.
    ///   - now: The server's time, where its answer gave it.
    /// - Throws: ``IDTokenError``.
    package func check(_ claims: [String: JSONValue], algorithm: String, now: Date) throws(IDTokenError) {
        guard let theirs = claims["iss"]?.string, theirs == issuer else { throw IDTokenError(.issuer) }
        let audience = claims["aud"]?.string.map { [$0] } ?? claims["aud"]?.array?.compactMap(\.string) ?? []
        guard audience.contains(clientID) else { throw IDTokenError(.audience) }
        let party = claims["azp"]?.string
        guard party == nil ? audience.count == 1 : party == clientID else { throw IDTokenError(.authorizedParty) }
        try checkTimes(claims, now: now.timeIntervalSince1970)
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

    private func checkTimes(_ claims: [String: JSONValue], now: Double) throws(IDTokenError) {
        func time(_ name: String) -> Double? {
            switch claims[name] {
            case .integer(let seconds): Double(seconds)
            case .number(let seconds): seconds
            default: nil
            }
        }
        guard let end = time("exp"), now < end + Self.leeway else { throw IDTokenError(.expired) }
        for name in ["iat", "nbf"] {
            guard time(name).map({ $0 <= now + Self.leeway }) ?? true else { throw IDTokenError(.notYetValid) }
        }
    }

    /// The left half of the hash that the signature's algorithm uses (section 3.1.3.6); nil when it is not known.
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

    /// The algorithms that are accepted: those with which a server can sign for everybody. `none` and shared keys are not.
    package static let algorithms: Set<String> = [
        "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
    ]
}
