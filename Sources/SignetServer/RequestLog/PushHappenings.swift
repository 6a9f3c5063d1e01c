import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Entries about push messages for the request log.
extension ServerContext {
    /// Logs that a message was sent on a stream.
    func note(_ event: FaultedDelivery.Event, deliveredTo stream: PushStreamSubscription) {
        let push = event.push
        requestLog.add(
            .push(RequestLogEntry.Push(.delivered, push.messageID, device: push.mechanismUID, stream: stream.id)), at: clock.now,
            faults: event.faults)
    }
}

extension ServerTransaction {
    /// Processes a device's answer, and returns it with the device. Also logs the result, an error included.
    mutating func answer(
        _ body: PushRequestBody, realm: RealmPath, at now: Date
    ) throws(PushResponseError) -> (answer: PendingPush.State, device: String?) {
        let push = pushes.entry(body.messageId, at: now)
        func tell(_ step: RequestLogEntry.Push.Step, _ reason: String? = nil) -> SideEffect {
            // Log the ID of a known message only, because an unknown ID is arbitrary input of the client.
            .happened(RequestLogEntry.Push(step, push?.messageID ?? "", device: push?.mechanismUID, reason: reason))
        }
        do throws(PushResponseError) {
            let answer = try pushes.answer(body, realm: realm, at: now)
            effects.append(tell(answer == .denied ? .denied : .approved))
            return (answer, push?.mechanismUID)
        } catch {
            effects.append(tell(.refused, "\(error)"))
            throw error
        }
    }
}
