import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A node that sends a push message to the user's device.
struct PushSenderNode: Node {
    enum PushType: Sendable, Hashable {
        case tap
        case number
        case biometric
    }

    var type = PushType.tap
    /// The text on the device. The placeholders `{{user}}` and `{{issuer}}` are replaced.
    var message = "Login attempt from {{user}} at {{issuer}}"

    /// True when the message contains the user agent that started the login.
    var tellsContext = false
    /// The names of collected attributes that the message also contains.
    var payload: [String] = []
    /// The lifetime in seconds; nil for the server's.
    var lifetime: Int?

    var name: String { "PushAuthenticationSenderNode" }
    var outcomes: [NodeOutcome] { [.sent, .notRegistered] }
    var ignoredOutcomes: [NodeOutcome] { [.skipped] }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        let moment = visit.moment
        guard let user = journey.user, let device = tx.devices.pushDevice(of: user) else { return .transition(.notRegistered) }
        guard tx.pushes.hasRoom(for: device.mechanismUID, at: moment.now) else { return .fail("too many messages are waiting") }
        let text = message.replacing("{{user}}", with: user.name).replacing("{{issuer}}", with: moment.configuration.issuer)
        let prompt = PushPrompt(
            kind: kind(), text: text, customPayload: customPayload(journey),
            contextInfo: tellsContext ? Self.contextInfo(journey.userAgent) : nil, lifetime: lifetime)
        let push = PendingPush(prompt, to: device, moment)
        tx.send(push, text: text, to: device, until: max(push.deadline, journey.expiresAt), at: moment.now)
        journey.pushMessageID = push.messageID
        return .transition(.sent)
    }

    /// Returns the attributes in ``payload`` as JSON; nil when none of them were collected.
    private func customPayload(_ journey: JourneyState) -> String? {
        let members = payload.compactMap { name in
            (name == "username" ? journey.username.map { .string($0) } : journey.attributes[name]).map { (name, $0) }
        }
        guard !members.isEmpty else { return nil }
        return JSON.text(of: .object(Dictionary(members, uniquingKeysWith: { _, last in last })))
    }

    /// Returns the kind of the message. A number message has three different two-digit numbers, of which ``PendingPush`` selects
    /// the correct one.
    private func kind() -> PushKind {
        switch type {
        case .tap: .tap
        case .biometric: .biometric
        case .number: .number(choices: Array((10...99).shuffled().prefix(3)))
        }
    }

    /// Returns the context of the login for the user, as the JSON of the claim `x`.
    private static func contextInfo(_ userAgent: String?) -> String? {
        userAgent.map { JSON.text(of: .object(["userAgent": .string($0)])) }
    }
}

/// A node that makes the client wait for the answer to the push message. It shows the number of a number message.
struct PushWaitNode: Node {
    var message = "Waiting for response..."
    /// The text that replaces ``message`` for a number message. The placeholder `{{challenge}}` is replaced.
    var numberMessage = "Tap {{challenge}} on your device"
    /// The text of a button that ends the wait; nil for no button.
    var exit: String?
    /// The wait between two polls, in seconds; nil for the server's schedule.
    var seconds: Int?

    var name: String { "PushWaitNode" }
    var outcomes: [NodeOutcome] { [.done] + (exit == nil ? [] : [.exited]) }
    var ignoredOutcomes: [NodeOutcome] { exit == nil ? [.exited] : [] }
    var interaction: Interaction { .ownPage }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        let now = visit.moment.now
        guard let push = journey.pushMessageID.flatMap({ tx.pushes.entry($0, at: now) }) else { return .transition(.done) }
        guard case .waiting(var wait) = journey.memory else {
            return ask(push, wait(for: push, visit.moment), &journey)
        }
        // The button is the last callback.
        if exit != nil, visit.answers?.number(push.number == nil ? 1 : 2) == 0 { return .transition(.exited) }
        switch wait.poll(at: now) {
        case .due: return .transition(.done)
        case .early: return ask(push, wait, &journey)
        case .spam: return .fail("polled too early too often")
        }
    }

    private func wait(for push: PendingPush, _ moment: RequestTime) -> PollingWait {
        let planned = PollSchedule.milliseconds(
            elapsed: moment.now.timeIntervalSince(push.sentAt), timeout: Int(push.deadline.timeIntervalSince(push.sentAt)),
            fixed: seconds.map { .seconds($0) } ?? moment.configuration.pollInterval)
        // The wait ends at the deadline of the message, because the server accepts no answer after it.
        let left = Int((push.deadline.timeIntervalSince(moment.now) * 1000).rounded(.up))
        return PollingWait(milliseconds: min(planned, max(left, 0)), from: moment.now)
    }

    private func ask(_ push: PendingPush, _ wait: PollingWait, _ journey: inout JourneyState) -> NodeResult {
        journey.memory = .waiting(wait)
        let button = exit.map { [JourneyCallback.confirmation([$0], default: 0)] } ?? []
        guard let number = push.number else {
            return .prompt(Page(callbacks: [.wait(milliseconds: wait.milliseconds, message: message)] + button))
        }
        let text = numberMessage.replacing("{{challenge}}", with: String(number))
        return .prompt(
            Page(
                callbacks: [
                    .wait(milliseconds: wait.milliseconds, message: text),
                    .hidden(id: "pushChallengeNumber", value: String(number)),
                ] + button))
    }
}

/// A node that checks the state of the push message.
struct PushResultVerifierNode: Node {
    var name: String { "PushResultVerifierNode" }
    var outcomes: [NodeOutcome] { [.approved, .denied, .expired, .waiting] }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        let now = visit.moment.now
        guard let id = journey.pushMessageID, let push = tx.pushes.entry(id, at: now) else { return .transition(.expired) }
        switch push.state {
        case .waiting where now < push.deadline: return .transition(.waiting)
        case .waiting: return .transition(.expired)
        case .approved: return .transition(.approved)
        case .denied: return .transition(.denied)
        }
    }
}
