import HTTPTypes
import Hummingbird
import SignetCore

/// `.../authenticationtrees/trees`: the journeys.
struct TreesResource {
    private let request: ConfigurationRequest

    init(_ request: ConfigurationRequest) { self.request = request }

    func respond() async throws -> Response {
        guard case .tree(let name) = request.address.resource else {
            guard request.method == .get else { throw request.wrongMethod(.get) }
            let view = request.view
            return try request.reply(all: view.visible.compactMap { view.tree($0.name) })
        }
        switch request.method {
        case .get:
            guard let tree = request.view.tree(name) else { throw APIError.documentNotFound }
            return try request.reply(tree)
        case .put:
            try ConfigurationRequest.checkName(name)
            return try await put(name, try await request.document())
        case .delete:
            let removed = try await request.change { edit in
                try request.checkConditions(edit.view.tree(name))
                return try edit.removeTree(name)
            }
            return try request.reply(removed)
        default: throw request.wrongMethod(.get, .put, .delete)
        }
    }

    private func put(_ name: String, _ document: JSONValue) async throws -> Response {
        let isNew = try await request.change { edit in
            let present = edit.view.tree(name)
            try request.checkConditions(present)
            try edit.putTree(name, document)
            return present == nil
        }
        return try request.reply(request.view.tree(name) ?? document, isNew ? .created : .ok)
    }
}
