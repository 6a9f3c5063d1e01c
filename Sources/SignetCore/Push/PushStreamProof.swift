/// The proof that a desktop authenticator holds a mechanism's secret.
///
/// It opens a push stream without sending the secret (docs/protocol/push-stream.md).
///
/// The server issues a nonce, and the device signs it together with the mechanism's id. Each nonce is valid for one proof.
package struct PushStreamProof: Sendable, Hashable {
    /// The id of the mechanism whose messages are requested.
    package var mechanismUid: String
    /// The server's nonce, byte for byte.
    package var nonce: String

    package init(mechanismUid: String, nonce: String) {
        self.mechanismUid = mechanismUid
        self.nonce = nonce
    }

    /// The authentication scheme of the `WWW-Authenticate` and `Authorization` headers.
    package static let scheme = "Signet-Push-Stream"
    /// The relation of the `Link` header (RFC 8288) that contains the address of the push stream in the response to a
    /// registration.
    package static let linkRelation = "signet-push-stream"
    /// The value of the `Prefer` header (RFC 7240) of a registration by a device that receives its messages from the push stream.
    ///
    /// It tells a server that can also send to phones which way to use. Other servers must ignore it.
    package static let preference = "signet-push-stream"
    /// The name of the events that carry messages.
    package static let eventName = "push"
}

/// A message in a push stream, with the values that a phone receives in a notification.
public struct PushDelivery: Sendable, Hashable {
    /// The id of the message.
    public let messageId: String
    /// The signed message.
    public let message: String
    /// The text beside the signed message, which a push gateway hands on: at most ``maxSubjectLength`` characters; nil without one.
    ///
    /// The mechanism's server has not signed it, so a gateway could have changed it. Use it for display only, marked as unsigned
    /// and with its control characters escaped.
    public let subject: String?

    /// The maximum number of Unicode scalars of a subject, which is that of SNS.
    public static let maxSubjectLength = 100

    /// Creates a delivery.
    ///
    /// A longer subject is cut.
    public init(messageId: String, message: String, subject: String? = nil) {
        self.messageId = messageId
        self.message = message
        let text = subject.map { String(String.UnicodeScalarView($0.unicodeScalars.prefix(Self.maxSubjectLength))) }
        self.subject = text == "" ? nil : text
    }
}

extension PushStreamProof: JSONObject {
    package var members: [String: JSONValue] { ["mechanismUid": .string(mechanismUid), "nonce": .string(nonce)] }

    package init(_ members: JSONMembers) throws {
        self.init(mechanismUid: try members.text("mechanismUid"), nonce: try members.text("nonce"))
    }
}

extension PushDelivery: JSONObject {
    package var members: [String: JSONValue] {
        Dictionary(texts: ["messageId": messageId, "message": message, "subject": subject])
    }

    package init(_ members: JSONMembers) throws {
        self.init(
            messageId: try members.text("messageId"), message: try members.text("message"), subject: members["subject"]?.string)
    }
}
