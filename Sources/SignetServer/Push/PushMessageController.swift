import HTTPTypes
import Hummingbird
import Logging
import SignetCore

/// `POST /json/.../push/sns/message`: devices register and answer push messages (protocol/authenticator.md sections 3.6 and 4.4).
struct PushMessageController: Sendable {
    static let version = APIVersion(1, 0)
    let server: ServerContext

    func message(_ request: Request, context: AppRequestContext) async throws -> Response {
        let realm = context.realm
        guard request.header("if-match") == nil, request.header("if-none-match") == nil else {
            throw APIError(.preconditionFailed, "The resource has no revisions.")
        }
        try AcceptAPIVersion.check(request.header("accept-api-version"), served: Self.version)
        let action: PushAction = try request.action()
        guard request.saysJSON else { throw APIError.badRequest }
        let bytes = try await request.bytes(context)
        guard let body = try? JSON.decode(PushRequestBody.self, from: bytes) else { throw APIError.badRequest }
        do {
            switch action {
            case .register: return try await register(body, request, context)
            case .authenticate: return try await authenticate(body, context)
            }
        } catch let refusal as PushResponseError {
            if action == .authenticate { server.telemetry.count([.push(.refused)]) }
            server.logger.info(
                "push refused", metadata: ["action": "\(action.rawValue)", "realm": "\(realm)", "reason": "\(refusal)"])
            throw APIError.badRequest
        }
    }

    private func register(_ body: PushRequestBody, _ request: Request, _ context: AppRequestContext) async throws -> Response {
        let realm = context.realm
        let endpoint: String?
        do {
            endpoint = try await self.endpoint(for: body, request, realm: realm)
        } catch let failure as SNSFailure {
            server.logger.warning("a push device could not be made known to SNS", metadata: ["reason": "\(failure)"])
            // AM answers without a body.
            if server.sns?.configuration.waitsForDelivery == true { return Response(status: .internalServerError) }
            guard !failure.isAboutDevice else { throw PushResponseError.tokenRefused }
            throw APIError(.serviceUnavailable, "The push provider cannot be reached.")
        }
        let (candidate, address) = try await server.store.write { tx in
            (try tx.register(body, realm: realm, endpoint: endpoint), tx.time.url(.pushStream, in: realm))
        }
        let device = candidate.device
        context.log.update { $0.client.device = device.mechanismUID }
        server.logger.info(
            candidate.isRepeated ? "push registration repeated" : "push device registered",
            metadata: ["realm": "\(realm)", "user": "\(device.owner.name)"])
        var headers: HTTPFields = [:]
        if device.route == .server { headers.set("Link", "<\(address)>; rel=\"\(PushStreamProof.linkRelation)\"") }
        return try JSONReply.make(.ok, JSONValue.object([:]), headers: headers, version: Self.version)
    }

    /// Returns the SNS endpoint of a device that registers; nil for a device that uses a push stream or is registered already.
    ///
    /// The transaction before the SNS request and the one after it both check that the device may register, so that no
    /// transaction is open while SNS answers.
    private func endpoint(
        for body: PushRequestBody, _ request: Request, realm: RealmPath
    ) async throws -> String? {
        guard let sns = server.sns, !request.prefersPushStream else { return nil }
        let candidate = try await server.store.read { tx in
            try tx.candidate(body, realm: realm)
        }
        guard !candidate.isRepeated else { return nil }
        let device = candidate.device
        guard let application = sns.configuration.application(for: device.communicationType) else {
            throw PushResponseError.noApplication(device.communicationType)
        }
        return try await sns.endpoint(for: device.deviceID, of: application)
    }

    private func authenticate(_ body: PushRequestBody, _ context: AppRequestContext) async throws -> Response {
        let realm = context.realm
        let (answer, device) = try await server.store.write { tx in
            try tx.answer(body, realm: realm)
        }.get()
        if !answer.isRepeated { server.telemetry.count([.push(answer.state == .approved ? .approved : .denied)]) }
        context.log.update { $0.client.device = device }
        // A fault may require a second delivery of an answered message. The first answer has woken the streams.
        if answer.isRepeated, !server.faults.isIdle, let device { server.streams.wake(device) }
        server.logger.info(
            answer.isRepeated ? "push answer repeated" : "push answered",
            metadata: ["realm": "\(realm)", "answer": "\(answer.state)"])
        return try JSONReply.make(.ok, JSONValue.object([:]), version: Self.version)
    }
}

extension Request {
    /// True when a device that registers asks for a push stream (docs/protocol/push-stream.md).
    fileprivate var prefersPushStream: Bool {
        headers.filter { $0.name.canonicalName == "prefer" }.flatMap { $0.value.split(separator: ",") }
            .contains { $0.prefix { $0 != ";" }.trimming(" \t").lowercased() == PushStreamProof.preference }
    }
}
