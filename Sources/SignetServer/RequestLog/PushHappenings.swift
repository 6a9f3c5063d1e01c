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
    /// Processes a device's answer, and returns it with the device. Also logs the result, a refusal included.
    mutating func answer(
        _ body: PushRequestBody, realm: RealmPath
    ) throws -> Result<(answer: PendingPush.State, device: String?), PushResponseError> {
        let push = try pushes.entry(body.messageId)
        func tell(_ step: RequestLogEntry.Push.Step, _ reason: String? = nil) -> SideEffect {
            // Log the ID of a known message only, because an unknown ID is arbitrary input of the client.
            .happened(RequestLogEntry.Push(step, push?.messageID ?? "", device: push?.mechanismUID, reason: reason))
        }
        let answer = try pushes.answer(body, realm: realm)
        switch answer {
        case .success(let state): effects.append(tell(state == .denied ? .denied : .approved))
        case .failure(let refusal): effects.append(tell(.refused, "\(refusal)"))
        }
        return answer.map { ($0, push?.mechanismUID) }
    }
}
