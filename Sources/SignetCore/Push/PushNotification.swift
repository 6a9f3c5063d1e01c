import Crypto

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A verified and stored push message, with its state.
public struct PushNotification: Sendable, Hashable {
    /// The id of the record, derived from the mechanism and the message id.
    ///
    /// The legacy SDKs derive their id from a time.
    public let id: String
    /// The server's id of the message, which is unique for a mechanism.
    public let messageID: String
    /// The content of the message.
    public let message: PushMessage
    /// The time at which the message arrived, by this machine's clock.
    public let receivedAt: Date
    /// The decision that the server has accepted; nil until then.
    public var decision: Decision?
    /// The time at which the server accepted the decision, by this machine's clock; nil until then, and for records that earlier
    /// versions wrote.
    public var decidedAt: Date?
    /// The difference between the server's clock and this machine's clock when the message arrived, in seconds; positive when the
    /// server's clock is ahead, and nil when it was not known.
    public var clockOffset: Double?

    /// The text that came beside the signed message, through a push gateway (``PushDelivery/subject``); nil without one.
    ///
    /// It is not signed: show it marked as such, and decide nothing by it.
    public var unsignedSubject: String?

    /// The greatest plausible difference between two clocks, in seconds: one day.
    public static let maxClockOffset: Double = 86_400

    /// The user's decision.
    public enum Decision: String, Sendable, Hashable {
        /// The user approved.
        case approved
        /// The user denied.
        case denied
    }

    /// The state of a notification at a given time.
    public enum State: String, Sendable, Hashable {
        /// The notification can be answered.
        case pending
        /// The user approved.
        case approved
        /// The user denied.
        case denied
        /// The message expired without an answer.
        case expired
    }

    /// Creates a notification from a received message.
    public init(messageID: String, message: PushMessage, receivedAt: Date, decision: Decision? = nil, clockOffset: Double? = nil)
    {
        id = Self.id(mechanismUID: message.mechanismUID, messageID: messageID)
        self.messageID = messageID
        self.message = message
        self.receivedAt = receivedAt
        self.decision = decision
        self.clockOffset = clockOffset
    }

    /// Creates a notification that an app's own storage keeps under an id of its own.
    package init(
        id: String, messageID: String, message: PushMessage, receivedAt: Date, decision: Decision? = nil, decidedAt: Date? = nil
    ) {
        self.id = id
        self.messageID = messageID
        self.message = message
        self.receivedAt = receivedAt
        self.decision = decision
        self.decidedAt = decidedAt
    }

    /// Returns the id that a message has in every store.
    ///
    /// It is the same for the same mechanism and message id, and different for every other pair, so that a message that arrives
    /// twice does not become two records.
    package static func id(mechanismUID: String, messageID: String) -> String {
        var identity: [UInt8] = []
        identity.reserveCapacity(16 + mechanismUID.utf8.count + messageID.utf8.count)
        for part in [mechanismUID, messageID] {
            withUnsafeBytes(of: UInt64(part.utf8.count).bigEndian) { identity.append(contentsOf: $0) }
            identity += part.utf8
        }
        return UUIDText.text(of: SHA256.hash(data: identity), version: 8)
    }

    /// The time at which the server stops waiting, by this machine's clock.
    ///
    /// The time to live of a message that claims to be sent after its arrival counts from the arrival.
    ///
    /// When the clock offset is not known, the time to live also counts from the arrival: this machine's clock may be wrong by
    /// ``maxClockOffset``, and only the server can decide whether an answer is too late. For a message that was sent earlier
    /// than that before its arrival, it counts from ``maxClockOffset`` after the sending time.
    public var expiresAt: Date {
        let sentAt = message.sentAt?.addingTimeInterval(-(clockOffset ?? -Self.maxClockOffset)) ?? receivedAt
        return min(sentAt, receivedAt).addingTimeInterval(Double(message.timeToLive))
    }

    /// Returns the state at `date`.
    ///
    /// Expiry is computed and never stored.
    public func state(at date: Date) -> State {
        switch decision {
        case .approved: .approved
        case .denied: .denied
        case nil: date > expiresAt ? .expired : .pending
        }
    }
}
