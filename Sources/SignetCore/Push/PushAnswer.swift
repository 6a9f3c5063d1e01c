import Crypto

/// A person's answer to a push message.
public enum PushAnswer: Sendable, Hashable {
    /// Yes; for a tap, and for a biometric message after the person was recognised.
    case approve
    /// Yes, and this is the number on the login page.
    case approveNumber(Int)
    /// No.
    case deny
}

/// The body of a request to `push/sns/message`: a message id and a signed JWT (protocol/authenticator.md sections 3.2, 4.4).
public struct PushRequestBody: Sendable, Hashable, Codable {
    /// The id that the server gave, byte for byte.
    public let messageId: String
    /// The signed claims.
    public let jwt: String

    /// A body as it came.
    public init(messageId: String, jwt: String) {
        self.messageId = messageId
        self.jwt = jwt
    }
}

/// The claims that a device signs, and the rule they rest on: the server's challenge, authenticated with the shared secret.
package enum PushClaims {
    /// What a device says of itself when it registers (section 3.3).
    package struct Registration: Codable, Sendable, Hashable {
        package var response: String
        package var mechanismUid: String
        package var deviceId: String
        package var deviceName: String
        package var deviceType: String
        package var communicationType: String

        package init(
            response: String, mechanismUid: String, deviceId: String, deviceName: String, deviceType: String,
            communicationType: String
        ) {
            self.response = response
            self.mechanismUid = mechanismUid
            self.deviceId = deviceId
            self.deviceName = deviceName
            self.deviceType = deviceType
            self.communicationType = communicationType
        }
    }

    /// What a device answers to a message (section 4.4).
    package struct Answer: Codable, Sendable, Hashable {
        package var response: String
        package var challengeResponse: String?
        package var deny: Bool?

        package init(_ answer: PushAnswer, challenge: [UInt8], secret: Secret) {
            response = PushClaims.response(to: challenge, secret: secret)
            switch answer {
            case .approve: break
            case .approveNumber(let number): challengeResponse = String(number)
            case .deny: deny = true
            }
        }
    }

    /// Section 3.4: base64 of HMAC-SHA-256 over the challenge.
    package static func response(to challenge: [UInt8], secret: Secret) -> String {
        Base64.encode(Array(HMAC<SHA256>.authenticationCode(for: challenge, using: secret.key)), as: .standard)
    }

    /// Signs claims of either kind into a request body.
    package static func body(messageID: String, claims: some Encodable, secret: Secret) throws -> PushRequestBody {
        PushRequestBody(messageId: messageID, jwt: CompactJWS.sign(try JSON.encode(claims), with: secret))
    }
}
