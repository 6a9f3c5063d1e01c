import HTTPTypes
import Hummingbird
import Logging
import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The HTTP resource of the push gateway. `POST` is the Query API of AWS SNS, for servers. `GET` is the SSE stream of one inbox,
/// for the device that owns it (docs/guides/push.md).
struct PushGatewayResource: Sendable {
    let server: ServerContext
    let keys: PushGatewayKeys

    // MARK: Servers

    /// Performs an action of the Query API.
    func query(_ request: Request, context: AppRequestContext) async throws -> Response {
        let body = try await request.bytes(context)
        do {
            try keys.check(
                method: "POST", path: context.fullPath, query: request.uri.query ?? "", body: body, now: server.machineClock.now
            ) { $0 == "host" ? request.head.authority : request.joined($0) }
            let action = try PushGatewayAction(body)
            let result = try await perform(action)
            return PushGatewayResponse.response(200) { PushGatewayResponse.document(action.name.rawValue, result, requestID: $0) }
        } catch let refusal as SNSError {
            server.logger.info("push gateway refused", metadata: ["code": "\(refusal.code)"])
            return self.refusal(refusal, context)
        } catch {
            // The state cannot be read or written. The status of this error makes the sender retry.
            server.logger.error("push gateway failed", metadata: ["error": "\(error)"])
            return refusal(.internalError, context)
        }
    }

    private func refusal(_ refusal: SNSError, _ context: AppRequestContext) -> Response {
        context.log.note { $0.problem = refusal.code }
        return refusal.response
    }

    private func perform(_ action: PushGatewayAction) async throws -> String? {
        switch action.name {
        case .createEndpoint:
            let (arn, application) = try action.resource("PlatformApplicationArn", .application)
            let token = try PushGatewayAction.token(try action.required("Token"))
            var attributes = try action.attributes()
            attributes.userData = action["CustomUserData"] ?? attributes.userData
            let given = attributes
            let endpoint = try await server.store.write { tx in
                try tx.gateway.create(application, arn: arn, token: token, given)
            }
            return PushGatewayResponse.element("EndpointArn", endpoint.arn)
        case .setAttributes:
            let (arn, _) = try action.resource("EndpointArn", .endpoint)
            let attributes = try action.attributes()
            try await server.store.write { tx in
                if let released = try tx.gateway.set(arn, attributes) {
                    tx.effects.append(.endInbox(released))
                }
            }
            return nil
        case .getAttributes:
            let (arn, _) = try action.resource("EndpointArn", .endpoint)
            let endpoint = try await server.store.read { tx in tx.gateway.endpoint(arn) }
            guard let endpoint else { throw SNSError.noEndpoint }
            return PushGatewayResponse.attributes(endpoint.attributes)
        case .deleteEndpoint:
            let (arn, _) = try action.resource("EndpointArn", .endpoint)
            try await server.store.write { tx in
                if let released = tx.gateway.delete(arn) { tx.effects.append(.endInbox(released)) }
            }
            return nil
        case .publish: return try await publish(action)
        }
    }

    private func publish(_ action: PushGatewayAction) async throws -> String {
        let (arn, resource) = try action.resource("TargetArn", .endpoint)
        let message = try action.required("Message")
        guard action["MessageStructure"] == "json" else {
            throw SNSError.invalidParameter(
                "MessageStructure", "it must be json: AM's message stands in the text for the platform")
        }
        guard let delivery = SNSEnvelope.unwrap(message, for: resource.platform) else {
            throw SNSError.invalidParameter(
                "Message", "there is no message of AM's in it for \(resource.platform.rawValue), with data and messageId")
        }
        guard delivery.messageId.utf8.count <= 1024, delivery.message.utf8.count <= 65_536 else {
            throw SNSError.invalidParameter("Message", "it is too long")
        }
        try await server.store.write { tx in try tx.deliver(delivery, to: arn) }
        return PushGatewayResponse.element("MessageId", RandomID.uuid().lowercased())
    }

    // MARK: Devices

    /// Opens the stream of an inbox.
    func inbox(_ request: Request, context: AppRequestContext) async throws -> Response {
        guard let proof = request.credentials(PushInbox.scheme) else { throw try await challenge() }
        guard let claim = PushInbox.verified(proof), try await isGood(claim) else {
            server.logger.info("inbox proof rejected")
            throw try await challenge()
        }
        let inbox = PushGatewayInbox(
            server: server, address: claim.address, last: request.header("last-event-id").flatMap { UInt64($0) })
        return EventStream(
            server: server, streams: server.inboxStreams, name: claim.address, request: request, inbox: inbox
        ).response
    }

    private func isGood(_ claim: (address: String, nonce: String)) async throws -> Bool {
        try await server.store.write { tx in
            // The inbox is checked first. Any client can generate a key, and the check keeps the nonces of unknown keys out of
            // the store.
            tx.gateway.hasInbox(claim.address) && tx.nonces.redeem(claim.nonce)
        }
    }

    private func challenge() async throws -> APIError {
        let nonce = try await server.store.read { tx in try tx.nonces.issue() }
        return APIError(
            .unauthorized, "Sign the nonce.", headers: [.wwwAuthenticate: "\(PushInbox.scheme) nonce=\"\(nonce)\""])
    }
}

/// The messages in one inbox of the gateway.
private struct PushGatewayInbox: StreamInbox {
    let server: ServerContext
    let address: String
    /// The id of the last event that the device has received.
    var last: UInt64?

    mutating func events() async throws -> [InboxMessage]? {
        let messages = try await server.store.read { [address, last] tx -> [InboxMessage]? in
            tx.gateway.hasInbox(address) ? tx.gateway.retained(for: address, after: last) : nil
        }
        guard let messages else { return nil }
        last = messages.last?.eventID ?? last
        return messages
    }

    func delivered(_ events: [InboxMessage], on stream: PushStreamSubscription) {}
}

extension InboxMessage: StreamEvent {
    var id: UInt64 { eventID }
    var delivery: PushDelivery { PushDelivery(messageId: messageID, message: message) }
}

extension ServerTransaction {
    /// Puts a message that was published to an endpoint into the endpoint's inbox.
    fileprivate mutating func deliver(_ delivery: PushDelivery, to arn: String) throws(SNSError) {
        guard let endpoint = gateway.endpoint(arn) else { throw .noEndpoint }
        guard endpoint.isEnabled else { throw .disabled }
        try gateway.add(delivery, to: endpoint.token)
        effects.append(.wakeInbox(endpoint.token))
    }
}

extension Request {
    /// Returns the values of a header, joined with commas as in the canonical request of a signature; nil when the header is
    /// absent.
    fileprivate func joined(_ name: String) -> String? {
        let values = headers.filter { $0.name.canonicalName == name }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ",")
    }
}
