#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension PushMessage: Decodable {
    /// Reads the claims of a message whose signature has been checked.
    /// - Throws: ``PushMessageError/claim(_:)`` for the first claim that is missing or unusable.
    public init(from decoder: any Decoder) throws {
        let claims = try decoder.container(keyedBy: JSONKey.self)
        var known: [String: JSONValue] = [:]
        known.reserveCapacity(Self.knownClaims.count)
        var other: [String: JSONValue] = [:]
        for key in claims.allKeys {
            let value = try (try? claims.decode(String.self, forKey: key)).map(JSONValue.string) ?? claims.decode(JSONValue.self, forKey: key)
            if Self.knownClaims.contains(key.stringValue) {
                known[key.stringValue] = value
            } else {
                other[key.stringValue] = value
            }
        }
        try self.init(known: known, other: other)
    }

    private static let knownClaims: Set<String> = ["c", "d", "i", "k", "l", "m", "n", "p", "t", "u", "x"]

    private init(known: [String: JSONValue], other: [String: JSONValue]) throws(PushMessageError) {
        func present(_ name: String) -> JSONValue? { known[name] == .null ? nil : known[name] }

        guard let challenge = present("c")?.string.flatMap({ try? Base64.decode($0) }), !challenge.isEmpty else { throw .claim("c") }
        guard let mechanismUID = present("u")?.string, !mechanismUID.isEmpty else { throw .claim("u") }
        self.challenge = challenge
        self.mechanismUID = mechanismUID

        let seconds = present("t") ?? .integer(Int64(Self.defaultTimeToLive))
        guard let timeToLive = seconds.wholeNumber, (1...86_400).contains(timeToLive) else { throw .claim("t") }
        self.timeToLive = Int(timeToLive)

        if let sent = present("i") {
            guard let milliseconds = sent.wholeNumber, milliseconds >= 0 else { throw .claim("i") }
            sentAt = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
        } else {
            sentAt = nil
        }
        if let cookie = present("l")?.string, !cookie.isEmpty {
            guard let text = LoadBalancerCookie.text(from: cookie) else { throw .claim("l") }
            loadBalancerCookie = text
        } else {
            loadBalancerCookie = nil
        }
        kind = PushKind(wireName: present("k")?.string, numbers: present("n")?.string)
        text = present("m")?.string
        customPayload = try Self.text(of: present("p"), claim: "p")
        contextInfo = try Self.text(of: present("x"), claim: "x")
        userID = present("d")?.string
        otherClaims = other
    }

    /// A claim that is JSON text on the wire; a server that sends the JSON itself is understood too.
    private static func text(of value: JSONValue?, claim: String) throws(PushMessageError) -> String? {
        guard let value else { return nil }
        if let text = value.string { return text }
        guard let bytes = try? JSON.encode(value) else { throw .claim(claim) }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension PushMessage {
    /// The message as claims, for the server that sends it. Empty claims are left out; OpenAM's four are always there but `l`.
    package var claims: [String: JSONValue] {
        var claims = otherClaims
        claims["u"] = .string(mechanismUID)
        claims["c"] = .string(Base64.encode(challenge, as: .standard))
        claims["t"] = .string(String(timeToLive))
        claims["l"] = loadBalancerCookie.map { .string(Base64.encode(Array($0.utf8), as: .standard)) }
        // None for a time beyond all numbers, which a message that came could claim.
        let milliseconds = sentAt.flatMap { Int64(exactly: ($0.timeIntervalSince1970 * 1000).rounded(.down)) }
        claims["i"] = milliseconds.map { .string(String($0)) }
        claims["m"] = text.map { .string($0) }
        claims["k"] = .string(kind.wireName)
        if case .number(let choices) = kind { claims["n"] = .string(choices.map(String.init).joined(separator: ",")) }
        claims["p"] = customPayload.map { .string($0) }
        claims["x"] = contextInfo.map { .string($0) }
        claims["d"] = userID.map { .string($0) }
        return claims
    }

    /// The message, signed with the mechanism's secret.
    package func sealed(with secret: Secret) throws -> String {
        CompactJWS.sign(try JSON.encode(claims), with: secret)
    }

    /// A message for a server to send.
    package init(
        mechanismUID: String, challenge: [UInt8], kind: PushKind, timeToLive: Int, sentAt: Date, text: String?,
        loadBalancerCookie: String? = nil, customPayload: String? = nil, contextInfo: String? = nil, userID: String? = nil
    ) {
        self.mechanismUID = mechanismUID
        self.challenge = challenge
        self.kind = kind
        self.timeToLive = timeToLive
        self.sentAt = sentAt
        self.text = text
        self.loadBalancerCookie = loadBalancerCookie
        self.customPayload = customPayload
        self.contextInfo = contextInfo
        self.userID = userID
        otherClaims = [:]
    }
}
