package import Foundation
public import SignetCore
import SignetNetwork

/// The push protocol of privacyIDEA's push tokens (docs/protocol/privacyidea-push.md).
///
/// The device and the server have an RSA key each, and the server sends nothing: ``PushStreamListener`` asks it for open logins.
/// The serial number of the token is the resource id of the mechanism.
///
/// Every ``Authenticator`` has this platform. An `otpauth://pipush` URI names it.
public struct PrivacyIDEAPlatform: PushPlatform {
    /// The name that mechanisms of this platform store.
    public static let name = PrivacyIDEAURI.platform

    /// Creates the platform, which has no state.
    public init() {}

    /// The name that mechanisms of this platform store.
    public var name: String { Self.name }

    /// Registers nothing: the registration makes keys that the result of this method has no place for.
    ///
    /// The engine calls ``registration(for:mechanismUID:device:over:)``.
    /// - Throws: ``AuthenticatorError/Code/notSupported`` always.
    public func register(
        _ invitation: PushInvitation, mechanismUID: String, device: PushDevice, over transport: PushTransport
    ) async throws -> Endpoint? {
        throw AuthenticatorError(.notSupported, "a registration at privacyIDEA has keys, which this method does not return")
    }

    /// Makes a key for the device, and registers its public part with the enrollment credential.
    ///
    /// The server accepts one registration for each enrollment. It gets no device token.
    /// - Returns: The device's private key, and the server's public key.
    /// - Throws: ``AuthenticatorError/Code/refusedByServer``, ``AuthenticatorError/Code/serverMisbehaved``; `TransportError`, after
    ///   which the server may have registered the device although this method returned no key: the enrollment is then used up.
    public func registration(
        for invitation: PushInvitation, mechanismUID: String, device: PushDevice, over transport: PushTransport
    ) async throws -> PushRegistration {
        let secret = try await PrivacyIDEAKey.generate()
        let fields: [(name: String, value: String)] = [
            ("enrollment_credential", invitation.secret.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }),
            ("serial", invitation.messageID), ("fbtoken", ""), ("pubkey", try PrivacyIDEAKey(secret).publicKey),
        ]
        let server = invitation.registrationEndpoint
        let reply = try await post(fields, to: server, for: .pushRegister, over: transport)
        guard reply.value == .bool(true), let text = reply.detail?["public_key"]?.string,
            let serverKey = PrivacyIDEAKey.serverKey(text)
        else {
            throw AuthenticatorError(.serverMisbehaved, "\(server.host) accepted the device, and sent no usable key of its own")
        }
        return PushRegistration(secret: secret, serverKey: serverKey)
    }

    /// Returns the id of the mechanism for which ``PushStreamListener`` has got a challenge; nil for any other message.
    public func claimedMechanismUID(of delivery: PushDelivery) throws -> String? {
        PrivacyIDEAChallenge.mechanismUID(of: delivery)
    }

    /// Returns the content of a challenge after verifying its serial number and the server's signature.
    ///
    /// A challenge for which the user picks a letter becomes one with a number: the text says which number stands for which choice.
    public func open(_ delivery: PushDelivery, for mechanism: Mechanism) throws -> PushMessage {
        guard let push = mechanism.push, let serial = mechanism.resourceID, let serverKey = push.serverKey else {
            throw AuthenticatorError.noPush
        }
        let challenge = try PrivacyIDEAChallenge(delivery)
        guard challenge.serial == serial else { throw PushMessageError.claim("serial") }
        guard challenge.nonce == delivery.messageId else { throw PushMessageError.claim("nonce") }
        guard PrivacyIDEAKey.isSignature(challenge.signature, of: challenge.signedText, by: serverKey) else {
            throw PushMessageError.signature
        }
        return challenge.message(for: mechanism.uid, requiresPresence: push.requiresPresence)
    }

    /// Sends the signed nonce, with the choice of the user for an approval with a number, or marked as declined.
    /// - Throws: ``AuthenticatorError/Code/refusedByServer`` for a wrong choice, and for a login that was answered or has expired;
    ///   ``AuthenticatorError/Code/notSupported`` when the server has accepted the approval and the login page asks for a code,
    ///   which the error names.
    public func send(
        _ answer: PushAnswer, to notification: PushNotification, of mechanism: Mechanism, over transport: PushTransport
    ) async throws {
        guard let push = mechanism.push, let serial = mechanism.resourceID else { throw AuthenticatorError.noPush }
        let nonce = String(decoding: notification.message.challenge, as: UTF8.self)
        var signed = "\(nonce)|\(serial)"
        var fields: [(name: String, value: String)] = [("serial", serial), ("nonce", nonce)]
        switch answer {
        case .approve: break
        case .approveNumber(let number):
            guard let choice = PrivacyIDEAChallenge.choice(number, in: notification.message) else {
                throw AuthenticatorError(.wrongNumber, "the message has no choice \(number)")
            }
            signed += "|\(choice)"
            fields.append(("presence_answer", choice))
        case .deny:
            signed += "|decline"
            fields.append(("decline", "1"))
        }
        fields.append(("signature", try PrivacyIDEAKey(push.secret).signature(of: signed)))
        let server = push.authenticationEndpoint
        let reply: Answer
        do {
            reply = try await post(fields, to: server, for: .pushAuthenticate, over: transport)
        } catch let error as AuthenticatorError where error.status == 400 {
            // From AM this status would prove that it has accepted an earlier answer. Here it proves nothing.
            throw AuthenticatorError(error.code, error.reason)
        }
        guard reply.value == .bool(true) else {
            throw AuthenticatorError(
                .refusedByServer, "\(server.host) refused: the choice is wrong, or the login was already answered or has expired")
        }
        if let code = reply.detail?["display_code"]?.string, code.utf8.count <= 16, code.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) {
            throw AuthenticatorError(.notSupported, "\(server.host) has the answer; now type the code \(code) at the login page")
        }
    }

    /// Sends nothing, because the device has no token at the server.
    /// - Throws: ``AuthenticatorError/Code/notSupported`` always.
    public func update(_ device: PushDevice, of mechanism: Mechanism, over transport: PushTransport) async throws {
        throw AuthenticatorError.tokenNotTaken(mechanism)
    }

    /// The value and the details of a successful answer.
    private struct Answer {
        let value: JSONValue
        let detail: JSONValue?
    }

    private func post(
        _ fields: [(name: String, value: String)], to server: Endpoint, for action: RequestAction, over transport: PushTransport
    ) async throws -> Answer {
        let request = HTTPRequest(
            "POST", server.url, headers: ["Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"],
            body: Array(FormCoding.encode(fields).utf8))
        return try answer(in: try await transport.send(request, for: action, to: server), from: server)
    }

    /// Reads the JSON that privacyIDEA answers with.
    /// - Throws: ``AuthenticatorError/Code/refusedByServer`` for a 4xx status, with the number of the error if it has one;
    ///   ``AuthenticatorError/Code/serverMisbehaved`` for any other answer that is not a success.
    private func answer(in response: HTTPResponse, from server: Endpoint) throws(AuthenticatorError) -> Answer {
        let content = try? JSON.value(of: response.body)
        switch response.status {
        case 200..<300:
            guard let result = content?["result"], result["status"] == .bool(true), let value = result["value"] else {
                throw AuthenticatorError(
                    .serverMisbehaved, "\(server.host) did not answer as privacyIDEA does; check the address in the enrollment",
                    status: response.status)
            }
            return Answer(value: value, detail: content?["detail"])
        case 400..<500:
            let number = content?["result"]?["error"]?["code"]?.lenientInteger.map { " with its error \($0)" } ?? ""
            throw AuthenticatorError(
                .refusedByServer,
                "\(server.host) refused\(number): the device is unknown, the enrollment was used before, or polling is forbidden",
                status: response.status)
        default:
            throw AuthenticatorError(.serverMisbehaved, "\(server.host) failed; try again later", status: response.status)
        }
    }
}

extension PrivacyIDEAPlatform: PolledPushPlatform {
    /// The greatest number of challenges that are taken from one answer.
    private static let maxChallenges = 64

    /// Asks for the open challenges, with the signed time.
    /// - Throws: ``AuthenticatorError/Code/refusedByServer`` also when the server's clock is more than a minute away from `time`.
    package func openMessages(
        for mechanism: Mechanism, at time: Date, over transport: PushTransport
    ) async throws -> OpenPushMessages {
        guard let push = mechanism.push, let serial = mechanism.resourceID else { throw AuthenticatorError.noPush }
        let server = push.authenticationEndpoint
        let timestamp = time.formatted(.iso8601)
        let url = FormCoding.address(
            server.url,
            adding: [
                ("serial", serial), ("timestamp", timestamp),
                ("signature", try PrivacyIDEAKey(push.secret).signature(of: "\(serial)|\(timestamp)")),
            ])
        let request = HTTPRequest("GET", url, headers: ["Accept": "application/json"])
        let response = try await transport.send(request, for: .pushStream, to: server)
        guard let challenges = try answer(in: response, from: server).value.array else {
            throw AuthenticatorError(.serverMisbehaved, "\(server.host) sent no list of logins", status: response.status)
        }
        let deliveries = challenges.prefix(Self.maxChallenges).map { PrivacyIDEAChallenge.delivery(of: $0, to: mechanism.uid) }
        return (deliveries, challenges.count <= Self.maxChallenges)
    }
}
