import HTTPTypes
import Hummingbird
import SignetCore

/// `.../scripts`: the scripts of journeys, and those that only exports refer to.
struct ScriptsResource {
    private let request: ConfigurationRequest

    init(_ request: ConfigurationRequest) { self.request = request }

    func respond() async throws -> Response {
        guard case .script(let id) = request.address.resource else {
            if request.method == .get {
                return try request.reply(all: request.view.scripts.sorted { $0.key < $1.key }.map(\.value))
            }
            guard request.method == .post else { throw request.wrongMethod(.get, .post) }
            guard request.action == "create" else { throw APIError.unsupportedAction }
            return try await put(RandomID.uuid(), try await request.document())
        }
        switch request.method {
        case .get:
            guard let script = request.view.script(id) else { throw Self.notFound(id, request.realm) }
            return try request.reply(script)
        case .put: return try await put(id, try await request.document())
        case .delete:
            _ = try await request.change { edit in
                guard let script = edit.view.script(id) else { throw Self.notFound(id, request.realm) }
                try request.checkConditions(script)
                edit.removeScript(id)
            }
            return try request.reply([:])
        default: throw request.wrongMethod(.get, .put, .delete)
        }
    }

    private static func notFound(_ id: String, _ realm: RealmPath) -> APIError {
        APIError(.notFound, "Script with UUID \(id.prefix(100)) could not be found in realm \(realm)")
    }

    private func put(_ id: String, _ document: JSONValue) async throws -> Response {
        try ConfigurationRequest.checkName(id)
        let script = try ScriptDocument.stored(document, id: id)
        let isNew = try await request.change { edit in
            let present = edit.view.script(id)
            try request.checkConditions(present)
            edit.putScript(id, script)
            return present == nil
        }
        return try request.reply(script, isNew ? .created : .ok)
    }
}
