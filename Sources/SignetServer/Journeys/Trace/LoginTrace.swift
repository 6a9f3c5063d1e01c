import Foundation
import SignetCore

/// The record of one login: the nodes that its journey visited, each with its outcome, the reason and the time it took.
///
/// It contains no secrets. Of what the user entered it has the names of the values only.
struct LoginTrace: Sendable, Hashable {
    /// One visit of a node.
    struct Visit: Sendable, Hashable {
        /// The journey that has the node, and the id of the node.
        let path: NodePath
        /// The name of the node's type in AM.
        let type: String
        /// The time of the visit, by the server's clock.
        let at: Date
        /// The time that the node needed, without the time for the user's answer and for the hash of a password.
        var duration = Duration.zero
        /// The types of the callbacks that the node sent; empty when it asked nothing.
        var asked: [String] = []
        /// The outcome of the node; nil when it asked, or ended the login.
        var outcome: String?
        /// The reason for the outcome, or for the end of the login; nil when the node gave none.
        var reason: String?
        /// The names of the values that the node added to the state of the journey.
        var kept: [String] = []
        /// The number of visits that this entry stands for: a client that polls visits the same nodes again and again.
        var count = 1
    }

    /// The maximum number of visits that are kept: the first ones and the newest ones.
    static let maxVisits = 100

    /// The number of the login, from 1.
    let number: Int
    /// The name of the journey that was started.
    let journey: String
    let realm: RealmPath
    let startedAt: Date
    /// The name of the user; nil while no node has asked for it.
    var user: String?
    /// The user agent and the address of the client that sent the last request.
    var client = RequestLogEntry.Client()
    /// The result; nil while the journey waits for the client.
    var outcome: LoginOutcome?
    /// The reason for the result; nil for a successful login and for one that waits.
    var reason: String?
    /// The time of the last request.
    var lastAt: Date
    /// The time at which a journey that waits expires.
    var expiresAt: Date
    /// The visits, oldest first.
    private(set) var visits: [Visit] = []
    /// The number of visits that were left out between the first ones and the newest ones.
    private(set) var omitted = 0

    init(number: Int, _ progress: LoginProgress, at now: Date) {
        self.number = number
        (journey, realm, startedAt, lastAt) = (progress.journey, progress.realm, now, now)
        expiresAt = progress.expiresAt
        add(progress, at: now)
    }

    /// Adds what a request changed.
    mutating func add(_ progress: LoginProgress, at now: Date) {
        // A handle that is used again after the end does not change the result.
        guard outcome == nil else { return }
        lastAt = now
        expiresAt = progress.expiresAt
        if let user = progress.user { self.user = user }
        client = progress.client
        (outcome, reason) = (progress.outcome, progress.reason)
        for visit in progress.visits { add(visit) }
    }

    private mutating func add(_ visit: Visit) {
        for distance in 1...3 where visits.count >= distance {
            let index = visits.count - distance
            guard visits[index].isRepeated(by: visit) else { continue }
            visits[index].count += 1
            visits[index].duration += visit.duration
            return
        }
        if visits.count == Self.maxVisits {
            visits.remove(at: Self.maxVisits / 2)
            omitted += 1
        }
        visits.append(visit)
    }

    /// The state at a time: `success`, another result, `waiting` for the client, or `expired` when the client did not come back.
    func state(at now: Date) -> String { outcome?.rawValue ?? (now < expiresAt ? "waiting" : "expired") }

    /// The time that all nodes needed.
    var duration: Duration { visits.reduce(.zero) { $0 + $1.duration } }
}

extension LoginTrace.Visit {
    /// Returns true when a visit differs from this one only in its time, and is one of a client that polls.
    ///
    /// A second wrong password is a visit of its own.
    fileprivate func isRepeated(by other: LoginTrace.Visit) -> Bool {
        let isPoll = asked.contains("PollingWaitCallback") || (asked.isEmpty && ["DONE", "WAITING"].contains(outcome))
        return isPoll && other.kept.isEmpty && (path, asked, outcome) == (other.path, other.asked, other.outcome)
    }
}

/// The part of a login that one request ran.
struct LoginProgress: Sendable, Hashable {
    /// The id of the journey (``JourneyState/id``).
    let id: String
    let journey: String
    let realm: RealmPath
    var user: String?
    var client = RequestLogEntry.Client()
    var visits: [LoginTrace.Visit] = []
    /// The result; nil when the journey waits for the client.
    var outcome: LoginOutcome?
    var reason: String?
    let expiresAt: Date
}
