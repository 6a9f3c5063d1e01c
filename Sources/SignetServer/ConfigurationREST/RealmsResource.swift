import HTTPTypes
import Hummingbird
import SignetCore

/// `/json/global-config/realms`: the realms, which only the configuration file can change.
struct RealmsResource {
    private let request: ConfigurationRequest

    init(_ request: ConfigurationRequest) { self.request = request }

    func respond() throws -> Response {
        guard request.method == .get else {
            throw APIError(.notImplemented, "The realms of this server are those of its configuration file.")
        }
        let realms = request.server.realms.sorted { $0.description < $1.description }
        guard case .realm(let id) = request.address.resource else { return try request.reply(all: realms.map(Self.document)) }
        guard let realm = realms.first(where: { Self.id($0) == id }) else { throw APIError.documentNotFound }
        return try request.reply(Self.document(realm))
    }

    private static func id(_ realm: RealmPath) -> String { Base64.encode(Array(realm.description.utf8), as: .url) }

    private static func document(_ realm: RealmPath) -> JSONValue {
        .object([
            "_id": .string(id(realm)), "name": .string(realm.names.last ?? "/"), "active": .bool(true), "aliases": .array([]),
            "parentPath": realm == .root ? .null : .string(RealmPath(names: realm.names.dropLast()).description),
        ])
    }
}
