import HTTPTypes
import Hummingbird
import Logging
import SignetCore

/// `POST /json/.../push/sns/message`: devices register and answer (protocol/authenticator.md sections 3.6 and 4.4).
struct PushMessageResource: Sendable {
    static let version = APIVersion(1, 0)
    let desk: Desk

    func respond(to reader: RequestReader, realm: RealmPath) async throws -> Response {
        try reader.require(.post)
        guard reader.header("if-match") == nil, reader.header("if-none-match") == nil else {
            throw Refusal(.preconditionFailed, "The resource has no revisions.")
        }
        try AcceptAPIVersion.check(reader.header("accept-api-version"), served: Self.version)
        guard let name = reader.query("_action"), !name.isEmpty else { throw Refusal.badRequest }
        guard let action = PushAction(rawValue: name) else {
            throw Refusal(.notImplemented, "The action is not supported here.")
        }
        guard reader.saysJSON else { throw Refusal.badRequest }
        let bytes = try await reader.body()
        guard let body = try? JSON.decode(PushRequestBody.self, from: bytes) else { throw Refusal.badRequest }
        do {
            switch action {
            case .register: return try register(body, realm: realm)
            case .authenticate: return try authenticate(body, realm: realm)
            }
        } catch let refusal as PushRefusal {
            desk.logger.info("push refused", metadata: ["action": "\(name)", "realm": "\(realm)", "reason": "\(refusal)"])
            throw Refusal.badRequest
        }
    }

    private func register(_ body: PushRequestBody, realm: RealmPath) throws -> Response {
        let (device, address) = try desk.transact { state, moment throws(PushRefusal) in
            (try state.register(body, realm: realm, at: moment.now), moment.url(.pushDesk, in: realm))
        }
        desk.logger.info("push device registered", metadata: ["realm": "\(realm)", "user": "\(device.owner.name)"])
        var headers: HTTPFields = [:]
        headers.set("Link", "<\(address)>; rel=\"\(DeskProof.linkRelation)\"")
        return try JSONReply.make(.ok, JSONValue.object([:]), headers: headers, version: Self.version)
    }

    private func authenticate(_ body: PushRequestBody, realm: RealmPath) throws -> Response {
        let answer = try desk.transact { state, moment throws(PushRefusal) in
            try state.pushes.answer(body, realm: realm, at: moment.now)
        }
        desk.logger.info("push answered", metadata: ["realm": "\(realm)", "answer": "\(answer)"])
        return try JSONReply.make(.ok, JSONValue.object([:]), version: Self.version)
    }
}
