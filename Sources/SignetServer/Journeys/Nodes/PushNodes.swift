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

    var name: String { "PushAuthenticationSenderNode" }
    var outcomes: Set<NodeOutcome> { [.sent, .notRegistered] }

    func process(_ visit: NodeVisit, _ journey: inout JourneyState, _ desk: inout DeskState) -> NodeAction {
        let moment = visit.moment
        guard let user = journey.user, let device = desk.devices.pushDevice(of: user) else { return .leave(.notRegistered) }
        guard desk.pushes.hasRoom(for: device.mechanismUID, at: moment.now) else { return .fail("too many messages are waiting") }
        let text = message.replacing("{{user}}", with: user.name).replacing("{{issuer}}", with: moment.configuration.issuer)
        let prompt = PushPrompt(kind: kind(), text: text, contextInfo: Self.contextInfo(journey.userAgent))
        let push = PendingPush(prompt, to: device, moment)
        desk.pushes.add(push, until: max(push.deadline, journey.expiresAt), at: moment.now)
        desk.streams.wake(device.mechanismUID)
        journey.pushMessageID = push.messageID
        return .leave(.sent)
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

    var name: String { "PushWaitNode" }
    var outcomes: Set<NodeOutcome> { [.done] }

    func process(_ visit: NodeVisit, _ journey: inout JourneyState, _ desk: inout DeskState) -> NodeAction {
        let now = visit.moment.now
        guard let push = journey.pushMessageID.flatMap({ desk.pushes.entry($0, at: now) }) else { return .leave(.done) }
        guard case .waiting(var wait) = journey.memory else {
            return ask(push, wait(for: push, visit.moment), &journey)
        }
        switch wait.poll(at: now) {
        case .due: return .leave(.done)
        case .early: return ask(push, wait, &journey)
        case .spam: return .fail("polled too early too often")
        }
    }

    private func wait(for push: PendingPush, _ moment: Moment) -> PollingWait {
        let elapsed = moment.now.timeIntervalSince(push.sentAt)
        return PollingWait(
            milliseconds: PollSchedule.milliseconds(
                elapsed: elapsed, timeout: moment.configuration.pushLifetime, fixed: moment.configuration.pollInterval),
            from: moment.now)
    }

    private func ask(_ push: PendingPush, _ wait: PollingWait, _ journey: inout JourneyState) -> NodeAction {
        journey.memory = .waiting(wait)
        guard let number = push.number else {
            return .ask(Page(callbacks: [.wait(milliseconds: wait.milliseconds, message: message)]))
        }
        let text = numberMessage.replacing("{{challenge}}", with: String(number))
        return .ask(
            Page(callbacks: [
                .wait(milliseconds: wait.milliseconds, message: text),
                .hidden(id: "pushChallengeNumber", value: String(number)),
                .information(text),
            ]))
    }
}

/// Looks what became of the message.
struct PushResultVerifierNode: NodeKind {
    var name: String { "PushResultVerifierNode" }
    var outcomes: Set<NodeOutcome> { [.success, .failure, .expired, .waiting] }

    func process(_ visit: NodeVisit, _ journey: inout JourneyState, _ desk: inout DeskState) -> NodeAction {
        let now = visit.moment.now
        guard let id = journey.pushMessageID, let push = desk.pushes.entry(id, at: now) else { return .leave(.expired) }
        switch push.state {
        case .waiting where now < push.deadline: return .leave(.waiting)
        case .waiting: return .leave(.expired)
        case .approved: return .leave(.success)
        case .denied: return .leave(.failure)
        }
    }
}
