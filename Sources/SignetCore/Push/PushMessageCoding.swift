#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension PushMessage: Decodable {
    /// Reads the claims of a message whose signature has been checked.
    /// - Throws: ``PushMessageError/claim(_:)`` for the first claim that is missing or unusable.
    public init(from decoder: any Decoder) throws {
        try self.init(ReceivedClaims(decoder.container(keyedBy: ClaimKey.self)))
    }

    /// Reads the payload of a message whose signature has been checked.
    init(json: [UInt8]) throws {
        if let members = PlainJSONObject.members(of: json) {
            try self.init(ReceivedClaims(members))
        } else {
            self = try JSON.decode(from: json)
        }
    }

    private init(_ claims: ReceivedClaims) throws {
        guard let challenge = claims.c?.string.flatMap({ try? Base64.decode($0) }), !challenge.isEmpty else {
            throw PushMessageError.claim("c")
        }
        guard let mechanismUID = claims.u?.string, !mechanismUID.isEmpty else { throw PushMessageError.claim("u") }
        self.challenge = challenge
        self.mechanismUID = mechanismUID

        let seconds = claims.t ?? .integer(Int64(Self.defaultTimeToLive))
        guard let timeToLive = seconds.wholeNumber, (1...86_400).contains(timeToLive) else { throw PushMessageError.claim("t") }
        self.timeToLive = Int(timeToLive)

        if let sent = claims.i {
            guard let milliseconds = sent.wholeNumber, milliseconds >= 0 else { throw PushMessageError.claim("i") }
            sentAt = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
        } else {
            sentAt = nil
        }
        if let cookie = claims.l?.string, !cookie.isEmpty {
            guard let text = LoadBalancerCookie.text(from: cookie) else { throw PushMessageError.claim("l") }
            loadBalancerCookie = text
        } else {
            loadBalancerCookie = nil
        }
        kind = try PushKind(wireName: claims.k?.string, numbers: claims.n)
        text = claims.m?.string
        customPayload = try Self.text(of: claims.p, claim: "p")
        contextInfo = try Self.text(of: claims.x, claim: "x")
        userID = claims.d?.string
        otherClaims = claims.other
    }

    /// A claim that is JSON text on the wire; a server that sends the JSON itself is understood too.
    private static func text(of value: JSONValue?, claim: String) throws(PushMessageError) -> String? {
        guard let value else { return nil }
        if let text = value.string { return text }
        guard let bytes = try? JSON.encode(value) else { throw .claim(claim) }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The claims of a message as they came. One that is null is none.
private struct ReceivedClaims {
    var c, d, i, k, l, m, n, p, t, u, x: JSONValue?
    /// Those that have no meaning here, nulls included.
    var other: [String: JSONValue] = [:]

    init(_ claims: KeyedDecodingContainer<ClaimKey>) throws {
        func value(_ name: String) throws -> JSONValue? { try Self.value(ClaimKey(name), in: claims) }

        c = try value("c")
        d = try value("d")
        i = try value("i")
        k = try value("k")
        l = try value("l")
        m = try value("m")
        n = try value("n")
        p = try value("p")
        t = try value("t")
        u = try value("u")
        x = try value("x")
        other = try Dictionary(
            claims.allKeys.map { ($0.stringValue, try Self.value($0, in: claims) ?? .null) },
            uniquingKeysWith: { _, last in last })
    }

    init(_ members: [(name: String, text: String)]) {
        for (name, text) in members {
            switch name {
            case "c": c = .string(text)
            case "d": d = .string(text)
            case "i": i = .string(text)
            case "k": k = .string(text)
            case "l": l = .string(text)
            case "m": m = .string(text)
            case "n": n = .string(text)
            case "p": p = .string(text)
            case "t": t = .string(text)
            case "u": u = .string(text)
            case "x": x = .string(text)
            default: other[name] = .string(text)
            }
        }
    }

    /// Nearly every claim is a string, and decoding one directly is several times as fast as finding out what it is.
    private static func value(_ key: ClaimKey, in claims: KeyedDecodingContainer<ClaimKey>) throws -> JSONValue? {
        do {
            return try claims.decodeIfPresent(String.self, forKey: key).map { .string($0) }
        } catch {
            return try claims.decode(JSONValue.self, forKey: key)
        }
    }
}

/// The name of a claim. A container makes keys only for names that have no meaning here, so its `allKeys` are the others.
private struct ClaimKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }

    init?(stringValue: String) {
        switch stringValue {
        case "c", "d", "i", "k", "l", "m", "n", "p", "t", "u", "x": return nil
        default: self.stringValue = stringValue
        }
    }

    init?(intValue: Int) { nil }
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
