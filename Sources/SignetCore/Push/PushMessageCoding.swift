#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension PushMessage {
    /// Reads the claims of a message whose signature has been verified.
    ///
    /// A claim that is null counts as absent.
    /// - Throws: ``PushMessageError/claim(_:)`` for the first claim that is missing or invalid.
    package init(claims: [String: JSONValue]) throws(PushMessageError) {
        func claim(_ name: String) -> JSONValue? { claims[name].flatMap { $0 == .null ? nil : $0 } }

        guard let challenge = claim("c")?.string.flatMap({ try? Base64.decode($0) }), !challenge.isEmpty else {
            throw .claim("c")
        }
        guard let mechanismUID = claim("u")?.string, !mechanismUID.isEmpty else { throw .claim("u") }
        self.challenge = challenge
        self.mechanismUID = mechanismUID

        let seconds = claim("t") ?? .integer(Int64(Self.defaultTimeToLive))
        guard let timeToLive = seconds.lenientInteger, (1...86_400).contains(timeToLive) else { throw .claim("t") }
        self.timeToLive = Int(timeToLive)

        // As in the SDKs, a sending time that isn't a number counts as absent: the time of the arrival takes its place.
        sentAt = claim("i")?.lenientInteger.flatMap { $0 < 0 ? nil : Date(timeIntervalSince1970: Double($0) / 1000) }
        if let cookie = claim("l")?.string, !cookie.isEmpty {
            guard let text = LoadBalancerCookie.text(from: cookie) else { throw .claim("l") }
            loadBalancerCookie = text
        } else {
            loadBalancerCookie = nil
        }
        kind = PushKind(wireName: claim("k")?.string, numbers: claim("n"))
        text = claim("m")?.string
        customPayload = claim("p").map(Self.text)
        contextInfo = claim("x").map(Self.text)
        userID = claim("d")?.string
        self.claims = claims
    }

    /// Returns a claim that is JSON text on the wire.
    ///
    /// A server may also send the JSON value itself, which becomes text here.
    private static func text(of value: JSONValue) -> String {
        value.string ?? JSON.text(of: value)
    }

    /// The claims that this package does not interpret, by name, as they came.
    public var otherClaims: [String: JSONValue] {
        claims.filter { !["c", "d", "i", "k", "l", "m", "n", "p", "t", "u", "x"].contains($0.key) }
    }
}

extension PushMessage {
    /// Creates a message that a server sends, or that came from another push platform.
    ///
    /// Absent values give no claims. Of OpenAM's four claims (`c`, `l`, `t`, `u`) only `l` can be absent.
    public init(
        mechanismUID: String, challenge: [UInt8], kind: PushKind, timeToLive: Int, sentAt: Date?, text: String?,
        loadBalancerCookie: String? = nil, customPayload: String? = nil, contextInfo: String? = nil, userID: String? = nil,
        otherClaims: [String: JSONValue] = [:]
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

        let milliseconds = sentAt.flatMap { Int64(exactly: ($0.timeIntervalSince1970 * 1000).rounded(.down)) }
        var numbers: String?
        if case .number(let choices) = kind, !choices.isEmpty { numbers = choices.map(String.init).joined(separator: ",") }
        let cookie = loadBalancerCookie.map { Base64.encode(Array($0.utf8), as: .standard) }
        claims = Dictionary(texts: [
            "u": mechanismUID, "c": Base64.encode(challenge, as: .standard), "t": String(timeToLive),
            "i": milliseconds.map(String.init),
            "k": kind.wireName, "l": cookie, "m": text, "n": numbers, "p": customPayload, "x": contextInfo, "d": userID,
        ]).merging(otherClaims) { known, _ in known }
    }

    /// Returns the message as a JWS signed with the mechanism's secret.
    package func sealed(with secret: Secret) -> String {
        CompactJWS.sign(JSON.encode(.object(claims)), with: secret)
    }
}
