import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Sends the user's device a message.
struct PushSenderNode: NodeKind {
    enum PushType: Sendable, Hashable {
        case tap
        case number
        case biometric
    }

    var type = PushType.tap
    /// The text on the device; `{{user}}` and `{{issuer}}` are filled in.
    var message = "Login attempt from {{user}} at {{issuer}}"

    /// Whether the device is told where the login comes from.
    var tellsContext = false
    /// What of the journey's state the device is told besides.
    var payload: [String] = []
    /// Seconds; nil for the server's.
    var lifetime: Int?

    var name: String { "PushAuthenticationSenderNode" }
    var outcomes: [NodeOutcome] { [.sent, .notRegistered] }
    var spareOutcomes: [NodeOutcome] { [.skipped] }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        let moment = visit.moment
        guard let user = journey.user, let device = tx.devices.pushDevice(of: user) else { return .leave(.notRegistered) }
        guard tx.pushes.hasRoom(for: device.mechanismUID, at: moment.now) else { return .fail("too many messages are waiting") }
        let text = message.replacing("{{user}}", with: user.name).replacing("{{issuer}}", with: moment.configuration.issuer)
        let prompt = PushPrompt(
            kind: kind(), text: text, customPayload: customPayload(journey),
            contextInfo: tellsContext ? Self.contextInfo(journey.userAgent) : nil, lifetime: lifetime)
        let push = PendingPush(prompt, to: device, moment)
        tx.send(push, text: text, to: device, until: max(push.deadline, journey.expiresAt), at: moment.now)
        journey.pushMessageID = push.messageID
        return .leave(.sent)
    }

    /// What was collected under the names, as JSON.
    private func customPayload(_ journey: JourneyState) -> String? {
        let members = payload.compactMap { name in
            (name == "username" ? journey.username.map { .string($0) } : journey.attributes[name]).map { (name, $0) }
        }
        guard !members.isEmpty else { return nil }
        return JSON.text(of: .object(Dictionary(members, uniquingKeysWith: { _, last in last })))
    }

    /// Three different numbers of two digits for a number message; which of them is right, ``PendingPush`` draws.
    private func kind() -> PushKind {
        switch type {
        case .tap: .tap
        case .biometric: .biometric
        case .number: .number(choices: Array((10...99).shuffled().prefix(3)))
        }
    }

    /// What the person is told about where the login comes from: JSON, as in the claim `x`.
    private static func contextInfo(_ userAgent: String?) -> String? {
        userAgent.map { JSON.text(of: .object(["userAgent": .string($0)])) }
    }
}

/// Lets the client wait, and shows it the number if there is one.
struct PushWaitNode: NodeKind {
    var message = "Waiting for response..."
    /// Shown instead of ``message`` when there is a number; `{{challenge}}` is filled in.
    var numberMessage = "Tap {{challenge}} on your device"
    /// The text of a button that ends the wait; nil for none.
    var exit: String?
    /// How long the client waits between two polls; nil for the server's schedule.
    var seconds: Int?

    var name: String { "PushWaitNode" }
    var outcomes: [NodeOutcome] { [.done] + (exit == nil ? [] : [.exited]) }
    var spareOutcomes: [NodeOutcome] { exit == nil ? [.exited] : [] }
    var asking: NodeInteraction { .alone }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        let now = visit.moment.now
        guard let push = journey.pushMessageID.flatMap({ tx.pushes.entry($0, at: now) }) else { return .leave(.done) }
        guard case .waiting(var wait) = journey.memory else {
            return ask(push, wait(for: push, visit.moment), &journey)
        }
        // The button is the last callback.
        if exit != nil, visit.answers?.number(push.number == nil ? 1 : 2) == 0 { return .leave(.exited) }
        switch wait.poll(at: now) {
        case .due: return .leave(.done)
        case .early: return ask(push, wait, &journey)
        case .spam: return .fail("polled too early too often")
        }
    }

    private func wait(for push: PendingPush, _ moment: RequestTime) -> PollingWait {
        let planned = PollSchedule.milliseconds(
            elapsed: moment.now.timeIntervalSince(push.sentAt), timeout: Int(push.deadline.timeIntervalSince(push.sentAt)),
            fixed: seconds.map { .seconds($0) } ?? moment.configuration.pollInterval)
        // The message's own deadline ends the wait: from then on no answer is taken, and nobody waits for one.
        let left = Int((push.deadline.timeIntervalSince(moment.now) * 1000).rounded(.up))
        return PollingWait(milliseconds: min(planned, max(left, 0)), from: moment.now)
    }

    private func ask(_ push: PendingPush, _ wait: PollingWait, _ journey: inout JourneyState) -> NodeResult {
        journey.memory = .waiting(wait)
        let button = exit.map { [JourneyCallback.confirmation([$0], default: 0)] } ?? []
        guard let number = push.number else {
            return .ask(Page(callbacks: [.wait(milliseconds: wait.milliseconds, message: message)] + button))
        }
        let text = numberMessage.replacing("{{challenge}}", with: String(number))
        return .ask(
            Page(
                callbacks: [
                    .wait(milliseconds: wait.milliseconds, message: text),
                    .hidden(id: "pushChallengeNumber", value: String(number)),
                ] + button))
    }
}

/// Looks what became of the message.
struct PushResultVerifierNode: NodeKind {
    var name: String { "PushResultVerifierNode" }
    var outcomes: [NodeOutcome] { [.approved, .denied, .expired, .waiting] }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        let now = visit.moment.now
        guard let id = journey.pushMessageID, let push = tx.pushes.entry(id, at: now) else { return .leave(.expired) }
        switch push.state {
        case .waiting where now < push.deadline: return .leave(.waiting)
        case .waiting: return .leave(.expired)
        case .approved: return .leave(.approved)
        case .denied: return .leave(.denied)
        }
    }
}
