import Foundation
import SignetCore

/// A node that makes the client wait for the answer to the push message.
///
/// It shows the number of a number message.
struct PushWaitNode: Node {
    static let type = NodeType(
        "PushWaitNode", "Push Wait",
        "Makes the client wait for the response to the push message, and shows its number if it has one. It has the outcome `EXITED` if it has an `exitMessage`, the text of a button."
    ) { decoder in
        let defaults = Self()
        return Self(
            message: decoder.localizedText("waitingMessage", defaults.message),
            numberMessage: decoder.localizedText("challengeMessage", defaults.numberMessage),
            exit: decoder.optionalLocalizedText("exitMessage", default: "no button"),
            seconds: decoder.optionalInteger("secondsToWait", in: 1...86_400, default: "the server's schedule"))
    }

    var message: LocalizedText = "Waiting for response..."
    /// The text that replaces ``message`` for a number message.
    ///
    /// The placeholder `{{challenge}}` is replaced.
    var numberMessage: LocalizedText = "Tap {{challenge}} on your device"
    /// The text of a button that ends the wait; nil for no button.
    var exit: LocalizedText?
    /// The wait between two polls, in seconds; nil for the server's schedule.
    var seconds: Int?

    var outcomes: [NodeOutcome] { [.done] + (exit == nil ? [] : [.exited]) }
    var ignoredOutcomes: [NodeOutcome] { exit == nil ? [.exited] : [] }
    var interaction: Interaction { .ownPage }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        let now = tx.now
        guard let push = try journey.pushMessageID.flatMap({ try tx.pushes.entry($0) }) else { return .transition(.done) }
        guard case .waiting(var wait) = journey.memory else {
            return prompt(push, wait(for: push, tx.time), &journey, tx)
        }
        // The button is the last callback.
        if exit != nil, answers?.number(push.number == nil ? 1 : 2) == 0 { return .transition(.exited) }
        switch wait.poll(at: now) {
        case .due: return .transition(.done)
        case .early: return prompt(push, wait, &journey, tx)
        case .spam: return .fail("polled too early too often")
        }
    }

    private func wait(for push: PushMessageRecord, _ time: RequestTime) -> PollingWait {
        let planned = PollSchedule.milliseconds(
            elapsed: time.now.timeIntervalSince(push.sentAt), timeout: Int(push.deadline.timeIntervalSince(push.sentAt)),
            fixed: seconds.map { .seconds($0) } ?? time.configuration.pollInterval)
        // The wait ends at the deadline of the message, because the server accepts no answer after it.
        let left = Int((push.deadline.timeIntervalSince(time.now) * 1000).rounded(.up))
        return PollingWait(milliseconds: min(planned, max(left, 0)), from: time.now)
    }

    private func prompt(
        _ push: PushMessageRecord, _ wait: PollingWait, _ journey: inout JourneyState, _ tx: ServerTransaction
    ) -> NodeResult {
        journey.memory = .waiting(wait)
        let button = exit.map { [JourneyCallback.confirmation([tx.text($0)], default: 0)] } ?? []
        guard let number = push.number else {
            return .prompt(Page(callbacks: [.wait(milliseconds: wait.milliseconds, message: tx.text(message))] + button))
        }
        let text = tx.text(numberMessage).replacing("{{challenge}}", with: String(number))
        return .prompt(
            Page(
                callbacks: [
                    .wait(milliseconds: wait.milliseconds, message: text),
                    .hidden(id: "pushChallengeNumber", value: String(number)),
                ] + button))
    }
}
