import Foundation
import SignetCore

/// The external inputs of a request: the time, the configuration and the base URL.
///
/// Code that takes them from here is deterministic.
struct RequestTime: Sendable {
    let now: Date
    private let settings: SharedSettings
    /// The URL at which clients reach the server, including the context path.
    let baseURL: String

    init(now: Date, _ settings: SharedSettings, baseURL: String) {
        (self.now, self.settings, self.baseURL) = (now, settings, baseURL)
    }

    init(now: Date, configuration: ServerConfiguration, baseURL: String) {
        self.init(now: now, SharedSettings(configuration), baseURL: baseURL)
    }

    var configuration: ServerConfiguration { settings.configuration }

    /// Returns the same time with another address of the server.
    func at(_ baseURL: String) -> RequestTime { RequestTime(now: now, settings, baseURL: baseURL) }

    /// Returns the absolute URL of a resource.
    func url(_ route: Route, in realm: RealmPath) -> String {
        baseURL + Route.Address(route, realm: realm).path
    }
}

/// The state of a user's run through a tree, like AM's authentication session with its shared state.
struct JourneyState: Codable, Sendable, Equatable {
    let id: String
    let realm: RealmPath
    /// The name of the journey that was started.
    let tree: String
    let indexType: String
    var expiresAt: Date
    /// The value of the `User-Agent` header.
    ///
    /// It is shown to the user when a push message asks for approval.
    let userAgent: String?
    var noSession: Bool
    /// The node that the journey has reached.
    var currentNode: NodePath
    /// The outer nodes that wait for an inner journey to end.
    ///
    /// The last one waits for the journey that is running.
    var outer: [NodePath] = []
    /// The token of the session with which the journey was started.
    var presentedToken: Secret?
    /// True when the request named the session to upgrade, so that no other user may log in; nil for false.
    var isUpgrade: Bool?
    /// The URLs to go to after the journey; nil for AM's defaults.
    var destinations: JourneyDestinations?
    /// True when the journey ends with an empty token and without a session, as in AM.
    var passesThrough = false
    /// The one-time key of the current step.
    ///
    /// It is valid for one answer.
    var oneTimeKey = RandomID.token()
    /// The callbacks of the last step.
    var asked: [JourneyCallback] = []
    /// The data that the current node keeps between its visits.
    var memory: NodeProgress = .nothing

    // The properties that nodes leave for the nodes after them.
    var username: String?
    /// The user that the journey has identified by a password or an email, or whose password it has set; nil before that.
    var identified: IdentifiedUser?
    /// The address that the journey's last email was sent to; nil for a user without one, and in rows that an earlier version wrote.
    var emailAddress: String?
    var password: Secret?
    var pushMessageID: String?
    var pendingOATH: OATHDevice?
    var pendingCredential: OtherDevice?
    var failures: [NodePath: Int] = [:]
    /// Recovery codes that were generated for a device and not shown yet.
    var recoveryCodes: RecoveryCodes?
    /// The options of the session that the journey creates.
    var session = SessionOptions()
    /// The collected attributes of the user.
    var attributes: [String: JSONValue] = [:]
    /// The collected answers to security questions, which are not stored for the user yet.
    var securityAnswers: [String: Secret] = [:]
    /// The names of the ``attributes`` that are attributes of the user (`objectAttributes` in AM); nil for none.
    var objectAttributes: [String]?
    /// The one-time password that the journey has generated; nil for none.
    var oneTimePassword: OneTimePassword?
    /// The persistent cookies that the journey sets when it ends with success; nil for none.
    var persistentCookies: [PersistentCookie]?
    /// The numbers of callbacks that the nodes of the page have asked which are neither collectors nor the last one; nil for a page
    /// without such nodes.
    var partCounts: [Int]?

    var user: UserKey? { username.map { UserKey(realm: realm, name: $0) } }

    /// The names in stored rows.
    private enum CodingKeys: String, CodingKey {
        case id, realm, tree, indexType, expiresAt, userAgent, noSession, outer, isUpgrade, destinations, passesThrough
        case oneTimeKey, asked, memory, username, identified, emailAddress, password, pushMessageID, pendingOATH
        case pendingCredential, failures, recoveryCodes, session, attributes, securityAnswers, objectAttributes
        case oneTimePassword, persistentCookies, partCounts
        case currentNode = "place"
        case presentedToken = "shownToken"
    }
}

/// A user with the id of the user's password at one time (``UserRecord/generation``).
struct IdentifiedUser: Codable, Sendable, Hashable {
    let user: UserKey
    let generation: String?
}

enum NodeProgress: Codable, Sendable, Hashable {
    case nothing
    case waiting(PollingWait)
    case registering(messageID: String, PollingWait)
    /// The journey waits until the user opens the link in an email.
    case suspended
    /// The user has opened the link in the email.
    case resumed
    /// The challenge that was sent.
    case challenged([UInt8])
    /// The questions that were asked, and their user. The user is nil in rows that an earlier version wrote.
    case questioned([String], of: UserKey?)
}

/// One wait between two polls.
///
/// It detects clients that poll too early (protocol/authenticator.md section 3.6).
struct PollingWait: Codable, Sendable, Hashable {
    let milliseconds: Int
    let dueAt: Date
    private let tolerance: Int
    private(set) var earlyPolls = 0

    /// The names in stored rows.
    private enum CodingKeys: String, CodingKey {
        case milliseconds, dueAt
        case tolerance = "patience"
        case earlyPolls = "strikes"
    }

    init(milliseconds: Int, from now: Date, tolerance: Int = Self.tolerance) {
        self.milliseconds = milliseconds
        self.tolerance = tolerance
        dueAt = now.addingTimeInterval(Double(milliseconds) / 1000)
    }

    enum PollResult: Sendable, Hashable {
        case due
        /// The poll came more than ``grace`` seconds early. The same wait continues.
        case early
        /// The client has polled early too often.
        case spam
    }

    /// The number of polls that may come more than ``grace`` seconds early.
    ///
    /// One more ends the login.
    static let tolerance = 3
    static let grace = 2.0

    mutating func poll(at now: Date) -> PollResult {
        guard now < dueAt.addingTimeInterval(-Self.grace) else { return .due }
        earlyPolls += 1
        return earlyPolls > tolerance ? .spam : .early
    }
}

/// The wait time that the server requests from clients.
enum PollSchedule {
    static func milliseconds(elapsed: Double, timeout: Int, fixed: Duration?) -> Int {
        if let fixed { return Int(min(max(fixed, .zero), .seconds(86_400)) / .milliseconds(1)) }
        let part = elapsed / Double(timeout)
        return part < 0.25 ? 5000 : part < 0.5 ? 4000 : 8000
    }
}

/// The handle of a journey, which the client carries: a signed JWT with AM's claims (protocol/journey.md section 2.2).
struct AuthID: JSONObject, Sendable, Hashable {
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

    var members: [String: JSONValue] {
        [
            "otk": .string(otk), "realm": .string(realm), "authIndexType": .string(authIndexType),
            "authIndexValue": .string(authIndexValue), "sessionId": .string(sessionId), "exp": .integer(Int64(exp)),
            "iat": .integer(Int64(iat)),
        ]
    }

    init(_ members: JSONMembers) throws {
        otk = try members.text("otk")
        realm = try members.text("realm")
        authIndexType = try members.text("authIndexType")
        authIndexValue = try members.text("authIndexValue")
        sessionId = try members.text("sessionId")
        exp = try members.integer("exp")
        iat = try members.integer("iat")
    }

    /// Reads a handle that a client returned; nil unless this server signed the handle.
    init?(_ text: String, key: Secret) {
        guard let payload = try? CompactJWS(text).payload(verifiedWith: key),
            let handle = try? JSON.decode(AuthID.self, from: payload)
        else { return nil }
        self = handle
    }

    func signed(with key: Secret) -> String {
        let payload: [UInt8] = JSON.encode(self)
        return CompactJWS.sign(payload, with: key)
    }
}
