import Crypto

/// The user's answer to a push message.
public enum PushAnswer: Sendable, Hashable {
    /// The user approves: by a tap, or for a biometric message after the device has recognized the user.
    case approve
    /// The user approves with the number that the login page shows.
    case approveNumber(Int)
    /// The user denies.
    case deny
}

/// The body of a request to `push/sns/message`: a message id and a signed JWT (protocol/authenticator.md sections 3.2, 4.4).
public struct PushRequestBody: Sendable, Hashable {
    /// The message id from the server, byte for byte.
    public let messageId: String
    /// The signed claims.
    public let jwt: String

    /// Creates a body.
    public init(messageId: String, jwt: String) {
        self.messageId = messageId
        self.jwt = jwt
    }
}

/// The claims that a device signs.
///
/// They contain a response to the server's challenge, computed with the shared secret.
package enum PushClaims {
    /// The claims of a registration (section 3.3).
    package struct Registration: Sendable, Hashable {
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

    /// The claims of an answer to a message (section 4.4).
    package struct Answer: Sendable, Hashable {
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

    /// The claims of a device token update (section 5).
    package struct Update: Sendable, Hashable {
        package var mechanismUid: String
        package var deviceId: String
        package var deviceName: String
        package var deviceType: String
        package var communicationType: String

        package init(mechanismUid: String, deviceId: String, deviceName: String, deviceType: String, communicationType: String) {
            self.mechanismUid = mechanismUid
            self.deviceId = deviceId
            self.deviceName = deviceName
            self.deviceType = deviceType
            self.communicationType = communicationType
        }
    }

    /// Returns the body of a token update.
    ///
    /// It has the user's id under both names that the existing SDKs use.
    package static func updateBody(_ claims: Update, userID: String?, secret: Secret) -> [UInt8] {
        var members = Dictionary(texts: ["username": userID, "userId": userID])
        members["mechanismUid"] = .string(claims.mechanismUid)
        members["jwt"] = .string(CompactJWS.sign(JSON.encode(claims), with: secret))
        return JSON.encode(.object(members))
    }

    /// Returns the response to a challenge (section 3.4): the base64 of HMAC-SHA-256 over the challenge.
    package static func response(to challenge: [UInt8], secret: Secret) -> String {
        Base64.encode(Array(HMAC<SHA256>.authenticationCode(for: challenge, using: secret.key)), as: .standard)
    }

    /// Signs the claims of a registration or an answer into a request body.
    package static func body(messageID: String, claims: some JSONObject, secret: Secret) -> PushRequestBody {
        PushRequestBody(messageId: messageID, jwt: CompactJWS.sign(JSON.encode(claims), with: secret))
    }
}

extension PushRequestBody: JSONObject {
    package var members: [String: JSONValue] { ["messageId": .string(messageId), "jwt": .string(jwt)] }

    package init(_ members: JSONMembers) throws {
        self.init(messageId: try members.text("messageId"), jwt: try members.text("jwt"))
    }
}

extension PushClaims.Registration: JSONObject {
    package var members: [String: JSONValue] {
        [
            "response": .string(response), "mechanismUid": .string(mechanismUid), "deviceId": .string(deviceId),
            "deviceName": .string(deviceName), "deviceType": .string(deviceType), "communicationType": .string(communicationType),
        ]
    }

    package init(_ members: JSONMembers) throws {
        self.init(
            response: try members.text("response"), mechanismUid: try members.text("mechanismUid"),
            deviceId: try members.text("deviceId"), deviceName: try members.text("deviceName"),
            deviceType: try members.text("deviceType"), communicationType: try members.text("communicationType"))
    }
}

extension PushClaims.Update: JSONObject {
    package var members: [String: JSONValue] {
        [
            "mechanismUid": .string(mechanismUid), "deviceId": .string(deviceId), "deviceName": .string(deviceName),
            "deviceType": .string(deviceType), "communicationType": .string(communicationType),
        ]
    }

    package init(_ members: JSONMembers) throws {
        self.init(
            mechanismUid: try members.text("mechanismUid"), deviceId: try members.text("deviceId"),
            deviceName: try members.text("deviceName"), deviceType: try members.text("deviceType"),
            communicationType: try members.text("communicationType"))
    }
}

extension PushClaims.Answer: JSONObject {
    package var members: [String: JSONValue] {
        var members = Dictionary(texts: ["response": response, "challengeResponse": challengeResponse])
        members["deny"] = deny.map { .bool($0) }
        return members
    }

    package init(_ members: JSONMembers) throws {
        response = try members.text("response")
        challengeResponse = try members.optionalText("challengeResponse")
        deny = try members.optionalBool("deny")
    }
}
