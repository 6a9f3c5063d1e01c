/// How a desktop authenticator shows a desk that it holds a mechanism's secret, without sending it (docs/desk.md).
///
/// The desk hands out a nonce; the device signs it together with the mechanism's id; each nonce is good for one proof.
package struct PushStreamProof: Sendable, Hashable {
    /// The mechanism whose messages are asked for.
    package var mechanismUid: String
    /// The desk's nonce, byte for byte.
    package var nonce: String

    package init(mechanismUid: String, nonce: String) {
        self.mechanismUid = mechanismUid
        self.nonce = nonce
    }

    /// The authentication scheme of the `WWW-Authenticate` and `Authorization` headers.
    package static let scheme = "Signet-Desk"
    /// The relation of the `Link` header (RFC 8288) in which a registration's answer names the desk.
    package static let linkRelation = "signet-desk"
    /// What a device says in a `Prefer` header (RFC 7240) when it registers, if it comes to the desk for its messages: a server that
    /// can reach phones as well cannot know otherwise. Every other server has to pass over it.
    package static let preference = "signet-desk"
    /// The name of the events that carry messages.
    package static let eventName = "push"
}

/// A message as a desk hands it out: the same two values that a phone finds in a notification.
public struct PushDelivery: Sendable, Hashable {
    /// The id of the message.
    public let messageId: String
    /// The signed message.
    public let message: String

    /// A delivery as it came.
    public init(messageId: String, message: String) {
        self.messageId = messageId
        self.message = message
    }
}

extension PushStreamProof: JSONObject {
    package var members: [String: JSONValue] { ["mechanismUid": .string(mechanismUid), "nonce": .string(nonce)] }

    package init(_ members: JSONMembers) throws {
        self.init(mechanismUid: try members.text("mechanismUid"), nonce: try members.text("nonce"))
    }
}

extension PushDelivery: JSONObject {
    package var members: [String: JSONValue] { ["messageId": .string(messageId), "message": .string(message)] }

    package init(_ members: JSONMembers) throws {
        self.init(messageId: try members.text("messageId"), message: try members.text("message"))
    }
}
