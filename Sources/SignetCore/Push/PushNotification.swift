import Crypto

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A push message that was verified and kept, with what has become of it.
public struct PushNotification: Sendable, Hashable {
    /// The id of the record here, made of the mechanism and the message id; the legacy SDKs make theirs of a time.
    public let id: String
    /// The server's id of the message; unique for a mechanism.
    public let messageID: String
    /// What it says.
    public let message: PushMessage
    /// When it came, by this machine's clock.
    public let receivedAt: Date
    /// What was answered, once the server has accepted the answer.
    public var decision: Decision?
    /// How far the server's clock was ahead of this machine's when the message came, in seconds; nil when it was not known.
    public var clockOffset: Double?

    /// The greatest difference of two clocks that is believed, in seconds: a day.
    public static let greatestClockOffset: Double = 86_400

    /// What was answered.
    public enum Decision: String, Sendable, Hashable {
        /// The person said yes.
        case approved
        /// The person said no.
        case denied
    }

    /// How a notification stands at a moment.
    public enum State: String, Sendable, Hashable {
        /// It can be answered.
        case pending
        /// It was answered with yes.
        case approved
        /// It was answered with no.
        case denied
        /// Nobody answered in time.
        case expired
    }

    /// A message that has come.
    public init(messageID: String, message: PushMessage, receivedAt: Date, decision: Decision? = nil, clockOffset: Double? = nil)
    {
        id = Self.id(mechanismUID: message.mechanismUID, messageID: messageID)
        self.messageID = messageID
        self.message = message
        self.receivedAt = receivedAt
        self.decision = decision
        self.clockOffset = clockOffset
    }

    /// The id that a message has in every store: the same for the same mechanism and message id, and another for every other
    /// pair, so that a message which comes twice cannot become two records.
    package static func id(mechanismUID: String, messageID: String) -> String {
        var identity: [UInt8] = []
        identity.reserveCapacity(16 + mechanismUID.utf8.count + messageID.utf8.count)
        for part in [mechanismUID, messageID] {
            withUnsafeBytes(of: UInt64(part.utf8.count).bigEndian) { identity.append(contentsOf: $0) }
            identity += part.utf8
        }
        return UUIDText.text(of: SHA256.hash(data: identity), version: 8)
    }

    /// When the server stops waiting, by this machine's clock. A message that claims to be sent after it arrived counts from
    /// its arrival.
    ///
    /// So does one of a server whose clock is not known: this machine's may be wrong by ``greatestClockOffset``, and only the
    /// server can say whether it is too late. One that is older than that explains is expired in any case.
    public var expiresAt: Date {
        let sentAt = message.sentAt?.addingTimeInterval(-(clockOffset ?? -Self.greatestClockOffset)) ?? receivedAt
        return min(sentAt, receivedAt).addingTimeInterval(Double(message.timeToLive))
    }

    /// How it stands at `date`. Expiry is computed, never stored.
    public func state(at date: Date) -> State {
        switch decision {
        case .approved: .approved
        case .denied: .denied
        case nil: date > expiresAt ? .expired : .pending
        }
    }
}
