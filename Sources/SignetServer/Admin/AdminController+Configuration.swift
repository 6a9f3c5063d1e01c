import HTTPTypes
import Hummingbird
import SignetCore
import YAMLText

// Clients and journeys that testers change while the server runs.
extension AdminController {
    // MARK: Clients

    func clients(_ request: Request, context: AppRequestContext) async throws -> Response {
        let realm = try realm(AdminQuery(request, knows: ["realm"]))
        let clients = server.clients.all.filter { realm == nil || $0.key.realm == realm }
            .sorted { ($0.key.realm.description, $0.id) < ($1.key.realm.description, $1.id) }
        return try reply(.object(["clients": .array(clients.map { AdminJSON.client($0) })]))
    }

    func client(_ request: Request, context: AppRequestContext) async throws -> Response {
        let key = try clientKey(request, context)
        guard let client = server.clients[key] else { throw APIError(.notFound, "There is no such client.") }
        return try reply(AdminJSON.client(client))
    }

    func putClient(_ request: Request, context: AppRequestContext) async throws -> Response {
        let key = try clientKey(request, context)
        let value = try await request.configurationPart(context)
        let named = try Self.value(value, named: [("id", key.id), ("realm", key.realm.description)])
        let client = try Self.checked { () throws(ConfigurationError) in
            try ConfigurationReader.client(named, in: server.configuration)
        }
        let isNew = try await operations.put(client)
        return try reply(AdminJSON.client(client), isNew ? .created : .ok)
    }

    func deleteClient(_ request: Request, context: AppRequestContext) async throws -> Response {
        let key = try clientKey(request, context)
        guard try await operations.removeClient(key) else { throw APIError(.notFound, "There is no such client.") }
        return try reply(.object([:]))
    }

    private func clientKey(_ request: Request, _ context: AppRequestContext) throws -> ClientKey {
        let realm = try realm(AdminQuery(request, knows: ["realm"]))
        return ClientKey(realm: realm ?? .root, id: try context.parameter("client"))
    }

    // MARK: Journeys

    func journeys(_ request: Request, context: AppRequestContext) async throws -> Response {
        _ = try AdminQuery(request)
        let trees = server.trees.values.sorted { $0.name < $1.name }
        return try reply(.object(["journeys": .array(trees.map { AdminJSON.journey($0) })]))
    }

    func journey(_ request: Request, context: AppRequestContext) async throws -> Response {
        _ = try AdminQuery(request)
        guard let tree = server.trees[try context.parameter("journey")] else {
            throw APIError(.notFound, "There is no such journey.")
        }
        return try reply(AdminJSON.journey(tree))
    }

    func putJourney(_ request: Request, context: AppRequestContext) async throws -> Response {
        _ = try AdminQuery(request)
        let name = try context.parameter("journey")
        let value = try await request.configurationPart(context)
        let (tree, isNew) = try await operations.putJourney { configuration in
            try Self.checked { () throws(ConfigurationError) in
                try ConfigurationReader.journey(name, value, in: configuration)
            }
        }
        return try reply(AdminJSON.journey(tree), isNew ? .created : .ok)
    }

    func deleteJourney(_ request: Request, context: AppRequestContext) async throws -> Response {
        _ = try AdminQuery(request)
        guard try await operations.removeJourney(try context.parameter("journey")) else {
            throw APIError(.notFound, "There is no such journey.")
        }
        return try reply(.object([:]))
    }

    // MARK: Parts of a configuration

    /// Reads a part of a configuration, and lists all its problems in the error.
    private static func checked<Part>(_ read: () throws(ConfigurationError) -> Part) throws(APIError) -> Part {
        do throws(ConfigurationError) {
            return try read()
        } catch {
            throw APIError(
                .badRequest, error.description,
                detail: ["problems": .array(error.problems.map { AdminJSON.problem($0) })])
        }
    }

    /// Returns a mapping with the settings that its address has.
    /// - Throws: An error when the mapping has another value of such a setting.
    private static func value(_ value: MarkedValue, named names: [(name: String, text: String)]) throws(APIError) -> MarkedValue {
        guard let entries = value.mapping else { return value }
        var added: [MarkedValue.Entry] = []
        for (name, text) in names {
            if let own = entries.first(where: { $0.key == name })?.value {
                guard own.text == text else { throw APIError(.badRequest, "'\(name)' is another one than in the address.") }
                continue
            }
            let scalar = MarkedValue(content: .scalar(text, isQuoted: true), position: value.position)
            added.append(MarkedValue.Entry(key: name, position: value.position, value: scalar))
        }
        return MarkedValue(content: .mapping(added + entries), position: value.position)
    }
}

extension Request {
    /// The maximum size of a part of a configuration, in bytes.
    private static let maxPartSize = 4 << 20

    /// Reads a part of a configuration: YAML (`application/yaml`), or JSON with the same members.
    ///
    /// JSON is read as YAML too, so that problems have their lines.
    func configurationPart(_ context: AppRequestContext) async throws -> MarkedValue {
        let type = header("content-type").map { String($0.prefix { $0 != ";" }.lowercased().trimming(" ")) } ?? ""
        guard saysJSON || ["application/yaml", "application/x-yaml", "text/yaml"].contains(type) else {
            throw APIError(.unsupportedMediaType, "The request's body is neither application/yaml nor application/json.")
        }
        var context = context
        context.maxUploadSize = Self.maxPartSize
        let bytes = try await bytes(context)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw APIError(.badRequest, "The request's body is not text in UTF-8.")
        }
        let json = saysJSON ? try? JSON.value(of: bytes) : nil
        guard !saysJSON || json?.object != nil else { throw APIError(.badRequest, "The request's body is not a JSON object.") }
        do throws(YAMLText.Problem) {
            if let value = try YAMLText.value(of: text) { return value }
        } catch {
            // JSON can have escapes that YAML does not; its canonical form has none of them.
            if let json, let value = try? YAMLText.value(of: JSON.text(of: json)) { return value }
            let problem = ConfigurationProblem(.invalidYAML, at: error.position, nil, error.message)
            throw APIError(.badRequest, "\(problem)", detail: ["problems": .array([AdminJSON.problem(problem)])])
        }
        throw APIError(.badRequest, "The request's body is empty.")
    }
}

extension AdminJSON {
    static func client(_ client: RegisteredClient) -> JSONValue {
        .object([
            "id": .string(client.id), "realm": .string(client.key.realm.description), "public": .bool(!client.isConfidential),
            "redirectURIs": .texts(client.redirectURIs), "postLogoutRedirectURIs": .texts(client.postLogoutRedirectURIs),
            "scopes": .texts(client.scopes), "grantTypes": .texts(client.grantTypes.map(\.rawValue).sorted()),
            "accessTokens": .string(client.accessTokens.rawValue), "audiences": .texts(client.audiences),
        ])
    }

    static func journey(_ tree: JourneyTree) -> JSONValue {
        let nodes = tree.nodes.sorted { $0.key < $1.key }.map { id, node in
            JSONValue.object([
                "id": .string(id), "type": .string(node.node.type.name),
                "outcomes": .object(
                    Dictionary(
                        node.outcomes.map { ($0.key.rawValue, .string($0.value.name)) }, uniquingKeysWith: { first, _ in first })),
            ])
        }
        var members: [String: JSONValue] = [
            "name": .string(tree.name), "entry": .string(tree.entry), "innerTreeOnly": .bool(tree.isInner),
            "nodes": .array(nodes),
        ]
        members["realms"] = tree.realms.map { .texts($0.map(\.description).sorted()) }
        return .object(members)
    }

    static func problem(_ problem: ConfigurationProblem) -> JSONValue {
        var members: [String: JSONValue] = [
            "line": .integer(Int64(problem.position.line)), "column": .integer(Int64(problem.position.column)),
            "code": .string(problem.code.rawValue), "message": .string(problem.message),
        ]
        members["subject"] = problem.subject.map { .string($0) }
        return .object(members)
    }
}

extension NodeTarget {
    /// The name of the target in a configuration file.
    fileprivate var name: String {
        switch self {
        case .node(let id): id
        case .success: "success"
        case .failure: "failure"
        }
    }
}
