import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A moment, and what it is told apart by: everything a rule takes from outside.
struct RequestTime: Sendable {
    let now: Date
    let configuration: ServerConfiguration
    /// The address clients reach the server at, with the context path.
    let baseURL: String

    /// The absolute URL of a resource.
    func url(_ resource: ResourceAddress.Resource, in realm: RealmPath) -> String {
        baseURL + ResourceAddress(resource, realm: realm).path
    }
}

/// Somebody on the way through a tree: AM's session with its shared state.
struct JourneyState: Codable, Sendable {
    let id: String
    let realm: RealmPath
    /// The journey that was begun.
    let tree: String
    let indexType: String
    var expiresAt: Date
    /// What the client calls itself; it is shown to the person who is asked to approve.
    let userAgent: String?
    var noSession: Bool
    /// Where they are.
    var place: NodePath
    /// The nodes that wait for an inner journey to end, the last one for that which is walked now.
    var outer: [NodePath] = []
    /// The token of the session that the journey was begun with.
    var shownToken: Secret?
    /// Whether the journey ends with a token that is no token, as AM's do that only pass through.
    var passesThrough = false
    /// Good for one answer; every step has its own.
    var oneTimeKey = RandomID.token()
    /// The callbacks of the last step.
    var asked: [JourneyCallback] = []
    /// What the present node keeps from one visit to the next.
    var memory: NodeProgress = .nothing

    // What nodes leave for the nodes after them.
    var username: String?
    var password: Secret?
    var pushMessageID: String?
    var pendingOATH: OATHDevice?
    var pendingCredential: OtherDevice?
    var failures: [NodePath: Int] = [:]
    /// Codes that were made for a device and not shown yet.
    var recoveryCodes: RecoveryCodes?
    /// What the session is to be like.
    var session = SessionOptions()
    /// What was collected about the person, by attribute.
    var attributes: [String: JSONValue] = [:]
    /// Answers to questions, not yet the person's.
    var securityAnswers: [String: Secret] = [:]

    var user: UserKey? { username.map { UserKey(realm: realm, name: $0) } }
}

enum NodeProgress: Codable, Sendable {
    case nothing
    case waiting(PollingWait)
    case registering(messageID: String, PollingWait)
    /// Somebody waits for a letter.
    case suspended
    /// Somebody came back with the link in the letter.
    case resumed
    /// The challenge that was shown.
    case challenged([UInt8])
    /// The questions that were shown, and whose they are; nil in what was written before that was kept.
    case questioned([String], of: UserKey?)
}

/// One wait between two polls, and the rule against those who do not wait (protocol/authenticator.md section 3.6).
struct PollingWait: Codable, Sendable, Hashable {
    let milliseconds: Int
    let dueAt: Date
    private let patience: Int
    private(set) var strikes = 0

    init(milliseconds: Int, from now: Date, patience: Int = Self.patience) {
        self.milliseconds = milliseconds
        self.patience = patience
        dueAt = now.addingTimeInterval(Double(milliseconds) / 1000)
    }

    enum Verdict: Sendable, Hashable {
        case due
        /// More than 2 seconds early: the same wait goes on.
        case early
        /// Early once too often.
        case spam
    }

    /// More than this many polls that come more than ``grace`` seconds early end the login.
    static let patience = 3
    static let grace = 2.0

    mutating func poll(at now: Date) -> Verdict {
        guard now < dueAt.addingTimeInterval(-Self.grace) else { return .due }
        strikes += 1
        return strikes > patience ? .spam : .early
    }
}

/// How long a client is told to wait.
enum PollSchedule {
    static func milliseconds(elapsed: Double, timeout: Int, fixed: Duration?) -> Int {
        if let fixed { return Int(min(max(fixed, .zero), .seconds(86_400)) / .milliseconds(1)) }
        let part = elapsed / Double(timeout)
        return part < 0.25 ? 5000 : part < 0.5 ? 4000 : 8000
    }
}

/// The handle on a journey that the client carries: a signed JWT with AM's claims (protocol/journey.md section 2.2).
struct AuthID: Codable, Sendable, Hashable {
    let otk: String
    let realm: String
    let authIndexType: String
    let authIndexValue: String
    let sessionId: String
    let exp: Int
    let iat: Int

    init(_ journey: JourneyState, at now: Date) {
        otk = journey.oneTimeKey
        realm = journey.realm.description
        authIndexType = journey.indexType
        authIndexValue = journey.tree
        sessionId = journey.id
        exp = Int(journey.expiresAt.timeIntervalSince1970)
        iat = Int(now.timeIntervalSince1970)
    }

    /// Reads a handle that came back.
    /// - Throws: ``APIError/invalidAuthID`` unless it is one of ours.
    init(_ text: String, key: Secret) throws(APIError) {
        do {
            self = try JSON.decode(AuthID.self, from: try CompactJWS(text).payload(verifiedWith: key))
        } catch {
            throw .invalidAuthID
        }
    }

    func signed(with key: Secret) throws -> String {
        CompactJWS.sign(try JSON.encode(self), with: key)
    }
}
