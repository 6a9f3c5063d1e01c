import HTTPTypes
import Hummingbird
import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension AdminController {
    func users(_ reader: RequestReader, _ path: [String], _ query: inout AdminQuery) throws -> Call {
        let realm = try realm(&query)
        guard let name = path.first else { return try everybody(reader, realm) }
        let user = UserKey(realm: realm ?? .root, name: name)
        let change: () async throws -> Void
        switch (reader.request.method, Array(path.dropFirst())) {
        case (.get, []): change = {}
        case (.patch, []):
            change = {
                var body = try await AdminBody(reader)
                let isLocked = try body.truth("locked")
                let password = try body.text("password")
                try body.end()
                _ = try await operations.change(user, isLocked: isLocked, password: password.map { Secret($0.utf8) })
            }
        case (.delete, ["devices"]): change = { _ = try await operations.removeDevices(of: user) }
        case (.delete, let place) where place.count == 3 && place[0] == "devices":
            change = {
                guard let kind = DeviceKind(rawValue: place[1]),
                    try await operations.removeDevices(of: user, kind: kind, id: place[2]) > 0
                else {
                    throw APIError(.notFound, "There is no such device.")
                }
            }
        case (_, []): throw APIError.methodNotAllowed([.get, .patch])
        case (_, ["devices"]): throw APIError.methodNotAllowed([.delete])
        default: throw APIError.resourceNotFound
        }
        return {
            let isThere = try await server.store.read { tx in tx.directory.contains(user) }
            guard isThere else { throw APIError(.notFound, "There is no such user.") }
            try await change()
            return try reply(try await describe(user))
        }
    }

    private func everybody(_ reader: RequestReader, _ realm: RealmPath?) throws -> Call {
        switch reader.request.method {
        case .get:
            return {
                let users = try await server.store.read(skippingUnreadableRows: true) { tx in
                    tx.directory.users(ConsoleFacts.mostCounted)
                        .filter { realm == nil || $0.realm == realm }
                        .prefix(ConsoleFacts.rows).map { tx.description(of: $0) }
                }
                return try reply(.object(["users": .array(users)]))
            }
        case .post: return { try await add(reader, in: realm) }
        default: throw APIError.methodNotAllowed([.get, .post])
        }
    }

    private func add(_ reader: RequestReader, in realm: RealmPath?) async throws -> Response {
        var body = try await AdminBody(reader)
        let name = try body.required("name", body.text("name"))
        let password = try body.required("password", body.text("password"))
        let place = try body.text("realm").map { RealmPath($0) } ?? realm ?? .root
        let claims = try body.object("claims") ?? [:]
        try body.end()
        guard !name.isEmpty, !name.contains("/") else { throw APIError(.badRequest, "'name' is a text without slashes.") }
        let user = UserKey(realm: place, name: name)
        guard try await operations.add(user, password: Secret(password.utf8), claims: claims) else {
            throw APIError(.conflict, "There is a user of this name.")
        }
        return try reply(try await describe(user), .created)
    }

    private func describe(_ user: UserKey) async throws -> JSONValue {
        try await server.store.read(skippingUnreadableRows: true) { tx in tx.description(of: user) }
    }
}

extension ServerTransaction {
    fileprivate func description(of user: UserKey) -> JSONValue {
        let carried = DeviceKind.allCases.flatMap { kind in
            devices.descriptions(kind, of: user).map { device in
                JSONValue.object((device.object ?? [:]).merging(["kind": .string(kind.rawValue)]) { $1 })
            }
        }
        return .object([
            "name": .string(user.name), "realm": .string(user.realm.description),
            "locked": .bool(directory[user]?.isLocked ?? false), "lockedOut": .bool(lockouts.isLocked(user)),
            "devices": .array(carried),
            "sessions": .integer(Int64(sessions.sessions(of: user).count)),
        ])
    }
}
