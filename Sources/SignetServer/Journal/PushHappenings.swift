import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What the journal is told of push messages.
extension ServerContext {
    /// A message went out.
    func note(_ event: FaultedDelivery.Event, deliveredTo stream: PushStreamSubscription) {
        let push = event.push
        journal.add(
            .push(RequestLogEntry.Push(.delivered, push.messageID, device: push.mechanismUID, stream: stream.id)), at: clock.now,
            faults: event.faults)
    }
}

extension ServerTransaction {
    /// Takes a device's answer, and says which device it was. The journal is told what became of it.
    mutating func answer(
        _ body: PushRequestBody, realm: RealmPath, at now: Date
    ) throws(PushResponseError) -> (answer: PendingPush.State, device: String?) {
        let push = pushes.entry(body.messageId, at: now)
        func tell(_ step: RequestLogEntry.Push.Step, _ reason: String? = nil) -> SideEffect {
            // The id is told only of a message that there is: another one may be anything.
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
