import Foundation
import SignetCore

/// The result of sending a push message to a user.
enum PushSending: Sendable {
    case sent(PushMessageRecord)
    /// The message was not sent, for this reason.
    case refused(String)
}

extension ServerTransaction {
    /// Sends a message to a user's device, unless too many are waiting, or were denied or ignored.
    /// - Parameters:
    ///   - prompt: The message.
    ///   - user: The user.
    ///   - device: The user's device.
    ///   - end: The time until which the answer is needed, at least.
    /// - Returns: The message that was sent, or the reason of its absence.
    /// - Throws: `StoreError`.
    mutating func sendPush(
        _ prompt: PushPrompt, to user: UserKey, on device: PushDevice, until end: Date
    ) throws -> PushSending {
        let limits = time.configuration.messageLimits
        guard try pushes.hasRoom(for: device.mechanismUID, limit: limits.maxWaiting) else {
            return .refused("too many messages are waiting")
        }
        guard try !isPaused(.push, user) else { return .refused("too many messages were denied or ignored") }
        try pacing.sent(.push, to: user, limits)
        let push = PushMessageRecord(prompt, to: device, time)
        try send(push, text: prompt.text, to: device, until: max(push.deadline, end))
        return .sent(push)
    }
}
