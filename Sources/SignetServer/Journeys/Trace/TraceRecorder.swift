import Foundation
import SignetCore

/// The visits of nodes that one transaction runs, for the trace of the login (``LoginTrace``).
struct TraceRecorder: Sendable {
    /// The state of the journey when a node is visited.
    struct Start: Sendable {
        fileprivate let began: ContinuousClock.Instant
        fileprivate let path: NodePath
        fileprivate let hadName: Bool
        fileprivate let hadPassword: Bool
        fileprivate let attributes: Set<String>
    }

    /// False when the configuration keeps no traces.
    let isOn: Bool
    private(set) var visits: [LoginTrace.Visit] = []
    /// The reason that the visited node has given for its outcome.
    private var reason: String?

    init(isOn: Bool) { self.isOn = isOn }

    /// Keeps the reason for the outcome of the visited node; a reason never contains what the user has entered.
    mutating func explain(_ reason: String) { self.reason = reason }

    /// Begins the visit of the journey's current node.
    /// - Returns: The state before the visit; nil when traces are off.
    mutating func begin(_ journey: JourneyState) -> Start? {
        guard isOn else { return nil }
        reason = nil
        return Start(
            began: .now, path: journey.currentNode, hadName: journey.username != nil, hadPassword: journey.password != nil,
            attributes: Set(journey.attributes.keys))
    }

    /// Ends the visit of a node.
    /// - Parameters:
    ///   - start: The state before the visit.
    ///   - node: The node.
    ///   - result: The result of the visit.
    ///   - journey: The journey after the visit.
    ///   - now: The time of the transaction.
    mutating func end(_ start: Start?, _ node: any Node, _ result: NodeResult, _ journey: JourneyState, at now: Date) {
        guard let start else { return }
        var visit = LoginTrace.Visit(path: start.path, type: node.type.name, at: now, duration: .now - start.began)
        switch result {
        case .prompt(let page): visit.asked = page.callbacks.map(\.type)
        case .suspend(let page, _): visit.asked = page.callbacks.map(\.type)
        case .transition(let outcome): visit.outcome = outcome.rawValue
        case .runInnerTree(let name): visit.reason = "runs the journey \(name)"
        case .fail(let text): visit.reason = text
        case .refuse(let refusal): visit.reason = refusal.reason ?? refusal.message
        }
        if let reason { visit.reason = reason }
        if !start.hadName, journey.username != nil { visit.kept.append("username") }
        if !start.hadPassword, journey.password != nil { visit.kept.append("password") }
        visit.kept += journey.attributes.keys.filter { !start.attributes.contains($0) }.sorted()
        visits.append(visit)
    }

    /// Records that an inner journey has ended, whose result is the outcome of the outer node.
    mutating func returned(to path: NodePath, _ type: String?, _ outcome: NodeOutcome, at now: Date) {
        guard isOn else { return }
        var visit = LoginTrace.Visit(path: path, type: type ?? "InnerTreeEvaluatorNode", at: now)
        visit.outcome = outcome.rawValue
        visits.append(visit)
    }

    /// Returns the visits, and forgets them.
    mutating func take() -> [LoginTrace.Visit] {
        defer { visits = [] }
        return visits
    }
}

extension ServerTransaction {
    /// Gives the reason for the outcome of the node that runs, for the trace of the login.
    /// - Parameter reason: A text for the tester, without anything that the user has entered.
    mutating func explain(_ reason: @autoclosure () -> String) {
        if trace.isOn { trace.explain(reason()) }
    }

    /// Adds the visits of this run of a journey, with its result, to the trace of the login.
    mutating func record(_ journey: JourneyState, _ result: JourneyResult) {
        guard trace.isOn else { return }
        var progress = LoginProgress(
            id: journey.id, journey: journey.tree, realm: journey.realm, user: journey.username,
            client: traceClient(journey.userAgent), visits: trace.take(), expiresAt: journey.expiresAt)
        switch result {
        case .success(.step): break
        case .success(.loggedIn): progress.outcome = .success
        case .failure(let refusal):
            progress.outcome = LoginOutcome(refusal)
            progress.reason = refusal.reason ?? refusal.message
        }
        effects.append(.traced(progress))
    }

    /// Adds to the trace of a login that its journey has expired.
    mutating func recordTimeout(_ authID: AuthID, in realm: RealmPath) {
        guard trace.isOn else { return }
        var progress = LoginProgress(
            id: authID.sessionId, journey: authID.authIndexValue, realm: realm, client: traceClient(nil), expiresAt: now)
        progress.outcome = .timeout
        progress.reason = "the client answered after the journey had timed out"
        effects.append(.traced(progress))
    }

    private func traceClient(_ startAgent: String?) -> RequestLogEntry.Client {
        var client = RequestLogEntry.Client()
        client.userAgent = request?.header("user-agent").map { $0.limited(to: 128) } ?? startAgent
        client.address = request?.address
        return client
    }
}
