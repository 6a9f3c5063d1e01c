import HTTPTypes
import Hummingbird
import SignetCore

/// `.../realm-config/agents`: the OAuth 2.0 clients.
///
/// The lists of other types of agents are empty.
struct AgentsResource {
    private static let clientType = "OAuth2Client"
    private let request: ConfigurationRequest

    init(_ request: ConfigurationRequest) { self.request = request }

    func respond() async throws -> Response {
        switch request.address.resource {
        case .agentsOfType(let type): return try respond(ofType: type)
        case .agent(Self.clientType, let id): return try await respond(to: ClientKey(realm: request.realm, id: id))
        case .agent: throw request.method == .get || request.method == .delete ? APIError.documentNotFound : Self.onlyClients
        default:
            guard request.method == .post else { throw request.wrongMethod(.post) }
            return try list(ofType: nil)
        }
    }

    private static let onlyClients = APIError(.notImplemented, "This server has no agents but OAuth 2.0 clients.")

    private func clients(_ running: RunningConfiguration) -> [JSONValue] {
        running.clients.all.filter { $0.key.realm == request.realm }.sorted { $0.id < $1.id }
            .map { ClientDocument.value(of: $0, running.documents.current($0)) }
    }

    private func respond(ofType type: String) throws -> Response {
        if request.method == .get {
            return try request.reply(all: type == Self.clientType ? clients(request.running) : [])
        }
        guard request.method == .post else { throw request.wrongMethod(.get, .post) }
        return try list(ofType: type)
    }

    private func list(ofType type: String?) throws -> Response {
        switch request.action {
        case "getAllTypes":
            return try request.reply(result: [ClientDocument.type])
        case "nextdescendents":
            return try request.reply(result: type == nil || type == Self.clientType ? clients(request.running) : [])
        case "template" where type == Self.clientType:
            var template = ClientDocument.value(of: RegisteredClient(id: ""), nil).object ?? [:]
            for name in ["_id", "_type"] { template[name] = nil }
            return try request.reply(template)
        default: throw APIError.unsupportedAction
        }
    }

    private func respond(to key: ClientKey) async throws -> Response {
        switch request.method {
        case .get:
            let running = request.running
            guard let client = running.clients[key] else { throw APIError.documentNotFound }
            return try request.reply(ClientDocument.value(of: client, running.documents.current(client)))
        case .put:
            try ConfigurationRequest.checkName(key.id)
            return try await put(key, try await request.document())
        case .delete:
            _ = try await request.change { edit in
                guard let client = edit.before.clients[key] else { throw APIError.documentNotFound }
                try request.checkConditions(ClientDocument.value(of: client, edit.before.documents.current(client)))
                edit.remove(key)
            }
            return try request.reply(.object(["_id": .string(key.id), "success": .bool(true)]))
        default: throw request.wrongMethod(.get, .put, .delete)
        }
    }

    private func put(_ key: ClientKey, _ document: JSONValue) async throws -> Response {
        let (isNew, made) = try await request.change { edit in
            let present = edit.before.clients[key]
            let old = present.map { ClientDocument.value(of: $0, edit.before.documents.current($0)) }
            try request.checkConditions(old)
            let client = try ClientDocument.client(document, key, present, in: edit.before.configuration)
            let stored = ClientDocument.stored(document, id: key.id)
            edit.put(client, stored)
            return (present == nil, ClientDocument.value(of: client, stored))
        }
        return try request.reply(made, isNew ? .created : .ok)
    }
}
