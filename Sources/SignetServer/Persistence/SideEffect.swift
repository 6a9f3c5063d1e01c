import Foundation
import Logging

/// An effect outside the state that a transaction requests.
///
/// It is performed once, after the transaction is done.
enum SideEffect: Sendable, Hashable {
    /// There is something new for the streams of a mechanism.
    case wake(String)
    /// A mechanism was removed, and its streams end.
    case endStreams(String)
    case email(Email)
    /// An email waits for its delivery over SMTP.
    case deliver(EmailDelivery)
    /// A message was not sent, because too many earlier ones are unanswered.
    case withheld(MessagePacing.Channel, UserKey)
    /// A push message event for the request log.
    case happened(RequestLogEntry.Push)
    /// A message waits for its delivery to SNS.
    case dispatch(String)
    /// Logout tokens wait for their delivery to clients.
    case deliverLogouts
    /// There is something new in an inbox of the push gateway.
    case wakeInbox(String)
    /// An inbox of the push gateway was removed, and its streams end.
    case endInbox(String)
    case count(MetricEvent)
    /// A request ran a part of a login.
    case traced(LoginProgress)
}

extension SideEffect {
    /// The message that tells other servers of the same state about the side effect; nil when they need no message.
    var signal: ClusterMessage? {
        switch self {
        case .wake(let mechanismUID): .wake(mechanismUID)
        case .endStreams(let mechanismUID): .endStreams(mechanismUID)
        case .wakeInbox(let address): .wakeInbox(address)
        case .endInbox(let address): .endInbox(address)
        case .email, .deliver, .withheld, .happened, .dispatch, .deliverLogouts, .count, .traced: nil
        }
    }
}

/// Performs side effects on the streams, the request log and the other parts of a server.
struct SideEffectPerformer: Sendable {
    let streams: PushStreams
    let inboxStreams: PushStreams
    let requestLog: RequestLog
    let logins: LoginTraces
    /// The queue of the push delivery worker; nil when logins wait for the delivery of their messages.
    let deliveryQueue: PushDeliveryQueue?
    /// The signals of the workers that deliver logout tokens.
    let logoutSignals: LogoutSignals
    let telemetry: Telemetry
    let logger: Logger
    let emailQueue: EmailQueue
    let onEmail: (@Sendable (Email) -> Void)?

    func perform(_ effect: SideEffect, at now: Date) {
        switch effect {
        case .wake(let mechanismUID): streams.wake(mechanismUID)
        case .endStreams(let mechanismUID): streams.end(mechanismUID)
        case .email(let email):
            requestLog.add(.email(RequestLogEntry.Email(user: email.user, realm: email.realm)), at: now)
            onEmail?(email)
        case .deliver(let delivery):
            guard let dropped = emailQueue.add(delivery) else { return }
            logger.warning(
                "an email was dropped, because too many emails wait for their delivery", metadata: ["email": "\(dropped)"])
            telemetry.count([.email(.failed)])
        case .withheld(let channel, let user):
            logger.notice(
                "a message was not sent, because too many earlier ones are unanswered",
                metadata: ["channel": "\(channel)", "realm": "\(user.realm)", "user": "\(user.name)"])
        case .happened(let push): requestLog.add(.push(push), at: now)
        case .dispatch(let messageID): deliveryQueue?.add([messageID])
        case .deliverLogouts: logoutSignals.wake()
        case .wakeInbox(let address): inboxStreams.wake(address)
        case .endInbox(let address): inboxStreams.end(address)
        case .count(let event): telemetry.count([event])
        case .traced(let progress): logins.add(progress, at: now)
        }
    }
}
