import HTTPTypes
import Hummingbird
import Logging
import SignetCore
import SignetPushGateway

/// The HTTP controller of the push gateway.
///
/// `POST` is the Query API of AWS SNS, for servers (``PushGateway``). `GET` is the SSE stream of one inbox, for the device that
/// owns it (docs/guides/push.md).
struct PushGatewayController: Sendable {
    let server: ServerContext
    let gateway: PushGateway

    // MARK: Servers

    /// Performs an action of the Query API.
    func query(_ request: Request, context: AppRequestContext) async throws -> Response {
        let body = try await request.bytes(context)
        do {
            let answer = try await gateway.answer(
                path: context.fullPath, query: request.uri.query ?? "", body: body, now: server.machineClock.now
            ) { $0 == "host" ? request.head.authority : request.joined($0) }
            return Response(answer)
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
        context.log.update { $0.problem = refusal.code }
        return Response(refusal.response)
    }

    // MARK: Devices

    /// Opens the stream of an inbox.
    func inbox(_ request: Request, context: AppRequestContext) async throws -> Response {
        guard let proof = request.credentials(PushInbox.scheme) else { throw try await challenge() }
        guard let claim = PushInbox.verified(proof), try await isValid(claim) else {
            server.logger.info("inbox proof rejected")
            throw try await challenge()
        }
        let inbox = PushGatewayInbox(
            server: server, address: claim.address, last: request.header("last-event-id").flatMap { UInt64($0) })
        return EventStream(
            server: server, streams: server.inboxStreams, name: claim.address, request: request, inbox: inbox
        ).response
    }

    private func isValid(_ claim: (address: String, nonce: String)) async throws -> Bool {
        try await server.store.write { tx in
            // The inbox is checked first. Any client can generate a key, and the check keeps the nonces of unknown keys out of
            // the store.
            try tx.gateway.hasInbox(claim.address) && tx.nonces.redeem(claim.nonce)
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

    /// Returns the new messages without a list of those that wait: a gateway does not learn that a message was answered.
    mutating func update() async throws -> StreamUpdate<InboxMessage>? {
        let messages = try await server.store.read { [address, last] tx -> [InboxMessage]? in
            try tx.gateway.hasInbox(address) ? tx.gateway.retained(for: address, after: last) : nil
        }
        guard let messages else { return nil }
        last = messages.last?.eventID ?? last
        return StreamUpdate(events: messages)
    }

    func delivered(_ events: [InboxMessage], on stream: PushStreamSubscription) {}
}

extension InboxMessage: StreamEvent {
    var id: UInt64 { eventID }
    var delivery: PushDelivery { PushDelivery(messageId: messageID, message: message, subject: subject) }
}

extension Response {
    /// Creates the HTTP response of the push gateway's response.
    init(_ answer: PushGatewayResponse, headers: HTTPFields = [:]) {
        var headers = headers
        headers.set("x-amzn-RequestId", answer.requestID)
        self.init(answer.body, type: "text/xml", HTTPResponse.Status(code: answer.status), headers: headers)
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
