import SignetCore

/// What goes wrong on purpose.
public enum FaultKind: Sendable, Hashable {
    /// The answer comes later, by so much of the machine's time, at most ten minutes.
    case latency(Duration)
    /// The answer is an error with this status, 400 to 599, in the words of the resource; with a `Retry-After` of so many seconds
    /// if there is one.
    case status(Int, retryAfter: Int? = nil)
    /// The connection is closed after so many bytes of the answer's body; when nil, before its head.
    case cut(after: Int? = nil)
    /// The answer is a page of HTML with status 200, as a network gives it that wants somebody to log in first.
    case html
    /// The answer's body ends after so many bytes, and the head says that this is all of it; when nil, after half of it.
    case truncated(after: Int? = nil)
    /// `authorize` answers with another `state` than it was asked with.
    case wrongState
    /// `authorize` answers with a code that is not good any more.
    case expiredCode
    /// The id_token has another `nonce` than was asked for, under a right signature.
    case wrongNonce
    /// The id_token's signature is wrong.
    case wrongSignature
    /// A push message that was answered, or is too old, is delivered once more.
    case replayedPush
    /// A push message is delivered twice.
    case duplicateDelivery
    /// A push message is held back until the next one was delivered.
    case reordering

    /// What it is called in JSON and on the console, for example `wrong-state`.
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
        case .replayedPush: "replayed-push"
        case .duplicateDelivery: "duplicate-delivery"
        case .reordering: "reordering"
        }
    }

    /// One of each, with parameters that do.
    static let examples: [FaultKind] = [
        .latency(.seconds(1)), .status(503), .cut(), .html, .truncated(), .wrongState, .expiredCode, .wrongNonce, .wrongSignature,
        .replayedPush, .duplicateDelivery, .reordering,
    ]

    /// The only resource that it is possible at; nil for every one.
    var home: ResourceAddress.Resource? {
        switch self {
        case .latency, .status, .cut, .html, .truncated: nil
        case .wrongState, .expiredCode: .authorize
        case .wrongNonce, .wrongSignature: .accessToken
        case .replayedPush, .duplicateDelivery, .reordering: .pushStream
        }
    }

    /// Whether it is about messages on a desk's stream, and not about answers.
    var isOfDeliveries: Bool { home == .pushStream }

    /// Whether the request is carried out all the same, unless the rule says otherwise.
    var carriesOut: Bool {
        switch self {
        case .status, .html: false
        default: true
        }
    }

    /// Whether a rule can say if the request is carried out.
    var leavesChoice: Bool {
        switch self {
        case .status, .html, .cut: true
        default: false
        }
    }

    /// What is wrong with the parameters; nil when nothing is.
    var problem: FaultError? {
        switch self {
        case .latency(let duration) where duration <= .zero || duration > .seconds(600):
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

/// Why a fault cannot be switched on.
public enum FaultError: Error, Sendable, Hashable, CustomStringConvertible {
    /// There is no such kind.
    case unknownKind(String)
    /// There is no such resource, and no address that the path could mean; or it is in a realm that does not exist.
    case unknownRoute(String)
    /// A fault of this kind cannot happen there.
    case wrongRoute(kind: String, route: String)
    /// A parameter is not what it has to be; the reason says what it has to be.
    case parameter(String, String)

    /// What is wrong, and what is possible instead.
    public var description: String {
        switch self {
        case .unknownKind(let kind):
            "there is no fault of the kind '\(kind.prefix(64))'; there are \(FaultKind.examples.map(\.name).joined(separator: ", "))"
        case .unknownRoute(let route):
            "there is no resource '\(route.prefix(64))' and no such address; resources are \(FaultRoute.names.joined(separator: ", "))"
        case .wrongRoute(let kind, let route):
            "a fault of the kind '\(kind)' cannot happen at '\(route.prefix(64))', only at "
                + (FaultKind.examples.first { $0.name == kind }?.home?.rawValue ?? "other resources")
        case .parameter(let name, let reason): "'\(name)' \(reason)"
        }
    }
}
