import HTTPTypes
import Hummingbird
import Logging
import SignetCore

/// `/json/.../users`: the users of a realm.
struct UsersResource {
    private let request: ConfigurationRequest

    init(_ request: ConfigurationRequest) { self.request = request }

    func respond() async throws -> Response {
        guard case .user(let name) = request.address.resource else {
            if request.method == .get { return try await list() }
            return try await create(try await request.document())
        }
        let key = UserKey(realm: request.realm, name: name)
        switch request.method {
        case .get:
            guard let user = try await user(key) else { throw UserDocument.notFound }
            return try request.reply(user)
        case .put: return try await put(key, try await request.document())
        case .delete: return try await delete(key)
        default: throw request.wrongMethod(.get, .put, .delete)
        }
    }

    /// The maximum number of users that are searched.
    private static let limit = 10_000

    private func list() async throws -> Response {
        let realm = request.realm
        let users = try await request.server.store.read(skippingUnreadableRows: true) { tx in
            try tx.directory.users(Self.limit).filter { $0.realm == realm }
                .compactMap { try tx.directory[$0] }.map { UserDocument.value(of: $0) }
        }
        return try request.reply(all: users)
    }

    private func user(_ key: UserKey) async throws -> JSONValue? {
        try await request.server.store.read { tx in try tx.directory[key].map { UserDocument.value(of: $0) } }
    }

    private func create(_ document: JSONValue) async throws -> Response {
        guard let name = document["username"]?.string ?? document["_id"]?.string, name.isUserName else {
            throw APIError(.badRequest, "The user name is missing, or has characters that a name cannot have.")
        }
        return try await make(UserKey(realm: request.realm, name: name), document)
    }

    private func make(_ key: UserKey, _ document: JSONValue) async throws -> Response {
        let changes = UserDocument.Changes(document)
        guard let password = changes.password else { throw APIError(.badRequest, "The member userpassword is missing.") }
        let user = try await request.server.store.write { tx in
            guard try tx.addUser(key, password: password, claims: [:]) else {
                throw APIError(.conflict, "Resource already exists")
            }
            try tx.apply(changes, to: key)
            return try tx.directory[key].map { UserDocument.value(of: $0) }
        }
        tell("added", key)
        return try request.reply(user ?? .null, .created)
    }

    private func put(_ key: UserKey, _ document: JSONValue) async throws -> Response {
        if request.request.header("if-none-match") == "*", key.name.isUserName, try await user(key) == nil {
            return try await make(key, document)
        }
        let changes = UserDocument.Changes(document)
        let user = try await request.server.store.write { tx in
            // The check and the change are one transaction, so that a change in between is noticed.
            let present = try tx.directory[key].map { UserDocument.value(of: $0) }
            try request.checkConditions(present)
            guard present != nil else { throw UserDocument.notFound }
            if let password = changes.password {
                try tx.lockouts.clearAll(key)
                try tx.setPassword(password, of: key)
            }
            try tx.apply(changes, to: key)
            return try tx.directory[key].map { UserDocument.value(of: $0) }
        }
        tell("changed", key)
        return try request.reply(user ?? .null)
    }

    private func delete(_ key: UserKey) async throws -> Response {
        let isRemoved = try await request.server.store.write { tx in
            guard let present = try tx.directory[key].map({ UserDocument.value(of: $0) }) else { throw UserDocument.notFound }
            try request.checkConditions(present)
            return try tx.removeUser(key)
        }
        guard isRemoved else {
            throw APIError(.forbidden, "The user is in the configuration file: remove the user there.")
        }
        tell("removed", key)
        return try request.reply(.object(["_id": .string(key.name), "success": .string("true")]))
    }

    /// Tells a change in the logs.
    private func tell(_ change: String, _ user: UserKey) {
        request.server.logger.notice("a user was \(change)", metadata: ["user": "\(user.name)", "realm": "\(user.realm)"])
        request.context.log.update {
            $0.parameters.append(RequestLogEntry.Parameter(name: "changed", value: "user \(user.name.prefix(100)) \(change)"))
        }
    }
}
