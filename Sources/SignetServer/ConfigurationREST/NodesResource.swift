import HTTPTypes
import Hummingbird
import SignetCore

/// `.../authenticationtrees/nodes`: the nodes of journeys and their types.
struct NodesResource {
    private let request: ConfigurationRequest

    init(_ request: ConfigurationRequest) { self.request = request }

    func respond() async throws -> Response {
        switch request.address.resource {
        case .nodesOfType(let type): try await respond(ofType: type)
        case .node(let type, let id): try await respond(to: type, id)
        default: try respondToAll()
        }
    }

    private func respondToAll() throws -> Response {
        guard request.method == .post else { throw request.wrongMethod(.post) }
        switch request.action {
        case "getAllTypes":
            let known = NodeDocument.types.map(\.name)
            let others = Set(request.view.nodes.values.compactMap { $0["_type"]?["_id"]?.string }).subtracting(known)
            return try request.reply(result: (known + others.sorted()).map { NodeDocument.typeDocument($0) })
        case "nextdescendents": return try request.reply(result: nodes().map(\.value))
        default: throw APIError.unsupportedAction
        }
    }

    private func nodes() -> [(key: String, value: JSONValue)] { request.view.nodes.sorted { $0.key < $1.key } }

    private func respond(ofType type: String) async throws -> Response {
        if request.method == .get {
            return try request.reply(all: nodes().map(\.value).filter { $0["_type"]?["_id"]?.string == type })
        }
        guard request.method == .post else { throw request.wrongMethod(.get, .post) }
        switch request.action {
        case "getType": return try request.reply(NodeDocument.typeDocument(type).object ?? [:])
        case "schema":
            guard let schema = NodeDocument.schema(type) else { throw APIError.documentNotFound }
            return try request.reply(schema.object ?? [:])
        case "template":
            guard let template = NodeDocument.template(type) else { throw APIError.documentNotFound }
            return try request.reply(template.object ?? [:])
        case "create":
            let document = try await request.document()
            return try await put(type, document["_id"]?.string ?? RandomID.uuid(), document)
        default: throw APIError.unsupportedAction
        }
    }

    private func respond(to type: String, _ id: String) async throws -> Response {
        switch request.method {
        case .get:
            guard let node = node(type, id, request.view) else { throw APIError.documentNotFound }
            return try request.reply(node)
        case .put: return try await put(type, id, try await request.document())
        case .delete:
            let removed = try await request.change { edit in
                guard let node = node(type, id, edit.view) else { throw APIError.documentNotFound }
                try request.checkConditions(node)
                edit.removeNode(id)
                return node
            }
            return try request.reply(removed)
        default: throw request.wrongMethod(.get, .put, .delete)
        }
    }

    private func node(_ type: String, _ id: String, _ view: ConfigurationView) -> JSONValue? {
        view.node(id).flatMap { $0["_type"]?["_id"]?.string == type ? $0 : nil }
    }

    private func put(_ type: String, _ id: String, _ document: JSONValue) async throws -> Response {
        try ConfigurationRequest.checkName(type)
        try ConfigurationRequest.checkName(id)
        let isNew = try await request.change { edit in
            let present = edit.view.node(id)
            try request.checkConditions(present)
            edit.putNode(type, id, document)
            return present == nil
        }
        return try request.reply(NodeDocument.stored(document, type, id: id), isNew ? .created : .ok)
    }
}
