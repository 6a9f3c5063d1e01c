import Foundation
import SignetCore

/// The push message that a step of a login waits for.
struct PushWait: Sendable, Hashable {
    /// The name of the user whose device is asked.
    let user: String
    /// The time in seconds until the message expires.
    let secondsLeft: Int
    /// True when the message may be sent once more.
    let canBeResent: Bool
}

extension ServerTransaction {
    /// Returns the push message that a step waits for; nil when the step does not wait for one.
    /// - Parameter step: The step.
    /// - Returns: The message that waits for its answer, and its user.
    /// - Throws: `StoreError` when the state cannot be read.
    func pushWait(in step: JourneyStep) throws -> PushWait? {
        guard let (push, user) = try awaitedPush(in: step) else { return nil }
        return PushWait(
            user: user, secondsLeft: max(0, Int(push.deadline.timeIntervalSince(now).rounded(.up))),
            canBeResent: push.canBeResent(at: now))
    }

    private func awaitedPush(in step: JourneyStep) throws -> (PushMessageRecord, user: String)? {
        guard step.callback("PollingWaitCallback") != nil,
            let journey = try AuthID(step.authId, key: authIDKey).flatMap({ try journeys[$0.sessionId] }),
            let push = try journey.pushMessageID.flatMap({ try pushes.entry($0) }), push.state == .waiting
        else { return nil }
        return (push, journey.username ?? "")
    }

    /// Delivers the push message that a step waits for once more, for a device that has not got it.
    ///
    /// It is the same message, so a device that has got it shows nothing new. Nothing happens when the message has expired, or was
    /// sent again too often.
    /// - Throws: `StoreError` when the state cannot be read.
    mutating func resendPush(of step: JourneyStep) throws {
        guard let (push, _) = try awaitedPush(in: step), try pushes.resend(push.messageID) else { return }
        effects.append(.happened(RequestLogEntry.Push(.made, push.messageID, device: push.mechanismUID)))
        guard var dispatch = try dispatches[push.messageID] else {
            effects.append(.wake(push.mechanismUID))
            return
        }
        (dispatch.state, dispatch.claim) = (.waiting, nil)
        dispatches.store(dispatch)
        effects.append(.dispatch(push.messageID))
    }
}
