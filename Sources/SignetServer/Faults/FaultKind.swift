public import SignetCore

/// A kind of fault that a tester can inject.
public enum FaultKind: Sendable, Hashable {
    /// The response is delayed by this much of the machine's time, at most ten minutes.
    case latency(Duration)
    /// The response is an error with this status, 400 to 599, in the resource's error format, and with a `Retry-After` header if
    /// `retryAfter` (in seconds) is given.
    case status(Int, retryAfter: Int? = nil)
    /// The connection is closed after this number of bytes of the response's body; when nil, before the head.
    case cut(after: Int? = nil)
    /// The response is an HTML page with status 200, like the page of a captive portal.
    case html
    /// The response's body is truncated to this number of bytes, or to half when nil. The head declares the shorter length.
    case truncated(after: Int? = nil)
    /// `authorize` returns another `state` than the request's.
    case wrongState
    /// `authorize` returns a code that has expired.
    case expiredCode
    /// The id_token has another `nonce` than the request's. Its signature is valid.
    case wrongNonce
    /// The id_token's signature is invalid.
    case wrongSignature
    /// The id_token has another issuer (`iss`) than the server. Its signature is valid.
    case wrongIssuer
    /// The id_token is for another client (`aud`). Its signature is valid.
    case wrongAudience
    /// The id_token expired almost two days ago. Its signature is valid.
    case expiredIDToken
    /// The id_token is signed with a key that the key set doesn't contain, and names it in its header (`kid`).
    case unknownKey
    /// The id_token has no signature: the algorithm in its header is `none`.
    case algNone
    /// The server exchanges a refresh token, and closes the connection before the response, which contains the new tokens.
    case lostRefresh
    /// A request with a DPoP proof isn't executed, and gets the error `use_dpop_nonce` with a new nonce (RFC 9449 section 8.2).
    case dpopNonceRotates
    /// A request with a DPoP proof isn't executed, and gets the error of a proof that was used before (RFC 9449 section 11.1).
    case dpopReplayed
    /// The body of the response is sent in small parts, in this much of the machine's time, at most ten minutes.
    case slowBody(Duration)
    /// A push message that was answered or has expired is delivered once more.
    case replayedPush
    /// A push message is delivered twice.
    case duplicateDelivery
    /// A push message is held back until the next one is delivered.
    case reordering

    /// The name in JSON and on the console, for example `wrong-state`.
    public var name: String {
        switch self {
        case .latency: "latency"
        case .status: "status"
        case .cut: "cut"
        case .html: "html"
        case .truncated: "truncated"
        case .wrongState: "wrong-state"
        case .expiredCode: "expired-code"
        case .wrongNonce: "wrong-nonce"
        case .wrongSignature: "wrong-signature"
        case .wrongIssuer: "wrong-issuer"
        case .wrongAudience: "wrong-audience"
        case .expiredIDToken: "expired-id-token"
        case .unknownKey: "unknown-key"
        case .algNone: "alg-none"
        case .lostRefresh: "lost-refresh"
        case .dpopNonceRotates: "dpop-nonce-rotates"
        case .dpopReplayed: "dpop-replayed"
        case .slowBody: "slow-body"
        case .replayedPush: "replayed-push"
        case .duplicateDelivery: "duplicate-delivery"
        case .reordering: "reordering"
        }
    }

    /// One fault of each kind, with valid parameters.
    static let examples: [FaultKind] = [
        .latency(.seconds(1)), .status(503), .cut(), .html, .truncated(), .slowBody(.seconds(1)), .wrongState, .expiredCode,
        .wrongNonce, .wrongSignature, .wrongIssuer, .wrongAudience, .expiredIDToken, .unknownKey, .algNone, .lostRefresh,
        .dpopNonceRotates, .dpopReplayed, .replayedPush, .duplicateDelivery, .reordering,
    ]

    /// The only resource at which the fault is possible; nil for any resource.
    var home: Route? {
        switch self {
        case .latency, .status, .cut, .html, .truncated, .slowBody, .dpopNonceRotates, .dpopReplayed: nil
        case .wrongState, .expiredCode: .authorize
        case .wrongNonce, .wrongSignature, .wrongIssuer, .wrongAudience, .expiredIDToken, .unknownKey, .algNone, .lostRefresh:
            .accessToken
        case .replayedPush, .duplicateDelivery, .reordering: .pushStream
        }
    }

    /// True when the fault affects messages on a push stream instead of responses.
    var isOfDeliveries: Bool { home == .pushStream }

    /// True when the fault affects requests with a DPoP proof only.
    var isOfProofs: Bool { self == .dpopNonceRotates || self == .dpopReplayed }

    /// True when the request is executed by default.
    var executesRequest: Bool {
        switch self {
        case .status, .html, .dpopNonceRotates, .dpopReplayed: false
        default: true
        }
    }

    /// True when a rule can choose if the request is executed.
    var leavesChoice: Bool {
        switch self {
        case .status, .html, .cut: true
        default: false
        }
    }

    /// The error in the parameters; nil when they are valid.
    var problem: FaultError? {
        switch self {
        case .latency(let duration) where duration <= .zero || duration > .seconds(600),
            .slowBody(let duration) where duration <= .zero || duration > .seconds(600):
            .parameter("milliseconds", "is more than 0, and at most 600000")
        case .status(let status, _) where !(400...599).contains(status): .parameter("status", "is a number from 400 to 599")
        case .status(_, let seconds?) where !(0...86_400).contains(seconds):
            .parameter("retryAfter", "is a number of seconds, at most a day")
        case .cut(let bytes?) where !Self.sizes.contains(bytes), .truncated(let bytes?) where !Self.sizes.contains(bytes):
            .parameter("bytes", "is a number from 0 to \(Self.sizes.upperBound)")
        default: nil
        }
    }

    private static var sizes: ClosedRange<Int> { 0...(1 << 24) }
}

/// The reason that a fault cannot be enabled.
public struct FaultError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of the error.
    public struct Code: ErrorCode {
        /// The kind of fault is unknown.
        public static let unknownKind = Code(rawValue: "unknownKind")
        /// The resource is unknown, and the path matches no address or is in a realm that doesn't exist.
        public static let unknownRoute = Code(rawValue: "unknownRoute")
        /// A fault of this kind is not possible at this route.
        public static let wrongRoute = Code(rawValue: "wrongRoute")
        /// A parameter is invalid.
        public static let invalidParameter = Code(rawValue: "invalidParameter")

        /// All codes of this version.
        public static let allCases: [Code] = [.unknownKind, .unknownRoute, .wrongRoute, .invalidParameter]

        /// The name of the code, for logs and scripts.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The kind of the error.
    public let code: Code
    /// The error, and the valid alternatives.
    public let description: String

    static func unknownKind(_ kind: String) -> FaultError {
        let names = FaultKind.examples.map(\.name).joined(separator: ", ")
        return FaultError(
            code: .unknownKind, description: "there is no fault of the kind '\(kind.prefix(64))'; there are \(names)")
    }

    static func unknownRoute(_ route: String) -> FaultError {
        let names = FaultRoute.names.joined(separator: ", ")
        return FaultError(
            code: .unknownRoute,
            description: "there is no resource '\(route.prefix(64))' and no such address; resources are \(names)")
    }

    static func wrongRoute(kind: FaultKind, route: String) -> FaultError {
        let home = kind.home?.rawValue ?? "other resources"
        return FaultError(
            code: .wrongRoute,
            description: "a fault of the kind '\(kind.name)' cannot happen at '\(route.prefix(64))', only at \(home)")
    }

    static func parameter(_ name: String, _ reason: String) -> FaultError {
        FaultError(code: .invalidParameter, description: "'\(name)' \(reason)")
    }
}
