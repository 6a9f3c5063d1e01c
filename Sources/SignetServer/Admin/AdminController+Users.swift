import Foundation
import HTTPTypes
import Hummingbird
import SignetCore

extension AdminController {
    func users(_ request: Request, context: AppRequestContext) async throws -> Response {
        let realm = try realm(AdminQuery(request, knows: ["realm"]))
        let users = try await server.store.read(skippingUnreadableRows: true) { tx in
            try tx.directory.users(ConsoleFacts.maxCounted)
                .filter { realm == nil || $0.realm == realm }
                .prefix(ConsoleFacts.rows).map { try tx.description(of: $0) }
        }
        return try reply(.object(["users": .array(users)]))
    }

    func addUser(_ request: Request, context: AppRequestContext) async throws -> Response {
        let realm = try realm(AdminQuery(request, knows: ["realm"]))
        var body = try await AdminBody(request, context)
        let name = try body.required("name", body.text("name"))
        let password = try body.required("password", body.text("password"))
        let targetRealm = try body.text("realm").map { RealmPath($0) } ?? realm ?? .root
        let claims = try body.object("claims") ?? [:]
        try body.end()
        guard name.isUserName else {
            throw APIError(
                .badRequest,
                "'name' must be a string without slashes, control characters, text direction marks and invisible characters, and "
                    + "without spaces at its ends.")
        }
        let user = UserKey(realm: targetRealm, name: name)
        guard try await operations.add(user, password: Secret(password.utf8), claims: claims) else {
            throw APIError(.conflict, "There is a user of this name.")
        }
        return try reply(try await describe(user), .created)
    }

    func user(_ request: Request, context: AppRequestContext) async throws -> Response {
        try reply(try await describe(try await user(request, context)))
    }

    func changeUser(_ request: Request, context: AppRequestContext) async throws -> Response {
        let user = try await user(request, context)
        var body = try await AdminBody(request, context)
        let isLocked = try body.bool("locked")
        let password = try body.text("password")
        try body.end()
        _ = try await operations.change(user, isLocked: isLocked, password: password.map { Secret($0.utf8) })
        return try reply(try await describe(user))
    }

    func removeDevices(_ request: Request, context: AppRequestContext) async throws -> Response {
        let user = try await user(request, context)
        _ = try await operations.removeDevices(of: user)
        return try reply(try await describe(user))
    }

    func removeDevice(_ request: Request, context: AppRequestContext) async throws -> Response {
        let user = try await user(request, context)
        guard let kind = DeviceKind(rawValue: try context.parameter("kind")),
            try await operations.removeDevices(of: user, kind: kind, id: try context.parameter("id")) > 0
        else { throw APIError(.notFound, "There is no such device.") }
        return try reply(try await describe(user))
    }

    /// Returns the user that the path and the query name.
    /// - Throws: An error with status 404 when the user doesn't exist.
    private func user(_ request: Request, _ context: AppRequestContext) async throws -> UserKey {
        let realm = try realm(AdminQuery(request, knows: ["realm"]))
        let user = UserKey(realm: realm ?? .root, name: try context.parameter("user"))
        let isThere = try await server.store.read { tx in try tx.directory.contains(user) }
        guard isThere else { throw APIError(.notFound, "There is no such user.") }
        return user
    }

    private func describe(_ user: UserKey) async throws -> JSONValue {
        try await server.store.read(skippingUnreadableRows: true) { tx in try tx.description(of: user) }
    }
}

extension ServerTransaction {
    fileprivate func description(of user: UserKey) throws -> JSONValue {
        let carried = try DeviceKind.allCases.flatMap { kind in
            try devices.descriptions(kind, of: user).map { device in
                JSONValue.object((device.object ?? [:]).merging(["kind": .string(kind.rawValue)]) { $1 })
            }
        }
        return .object([
            "name": .string(user.name), "realm": .string(user.realm.description),
            "locked": .bool(try directory[user]?.isLocked ?? false), "lockedOut": .bool(try lockouts.isLocked(user)),
            "lockedFactors": .texts(
                try GuessableFactor.allCases.filter { try lockouts.isLocked($0, of: user) }.map(\.rawValue)),
            "devices": .array(carried),
            "sessions": .integer(Int64(try sessions.sessions(of: user).count)),
        ])
    }
}
