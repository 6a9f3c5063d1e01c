import HTTPTypes
import Hummingbird
import Logging
import SignetCore

/// `/json/.../users/{user}/devices/...`: users manage their own devices (protocol/journey.md section 1.5).
struct UserDevicesController: Sendable {
    static let version = APIVersion(1, 0)
    let server: ServerContext

    /// Returns the devices of one kind.
    func list(_ request: Request, context: AppRequestContext) async throws -> Response {
        let (kind, owner) = (try DeviceKind(context), try context.deviceOwner)
        guard request.query("_queryFilter") != nil || request.query("_queryId") != nil else { throw APIError.badRequest }
        let devices = try await server.store.read { tx in try tx.devices.descriptions(kind, of: owner) }
        return try JSONReply.make(.ok, Self.page(devices), version: Self.version)
    }

    /// Returns a device.
    func get(_ request: Request, context: AppRequestContext) async throws -> Response {
        let (kind, id, owner) = (try DeviceKind(context), try context.parameter("id"), try context.deviceOwner)
        let device = try await server.store.read { tx in try tx.devices.description(kind, id, of: owner) }
        guard let device else { throw APIError.resourceNotFound }
        return try JSONReply.make(.ok, device, version: Self.version)
    }

    /// Refuses to return one device at the address of push devices, as AM does.
    func notReadable(_ request: Request, context: AppRequestContext) async throws -> Response {
        throw APIError(.notImplemented, "Operation is not supported.")
    }

    /// Answers AM's actions for a second factor.
    ///
    /// Users cannot skip a second factor here, so `check` is false and `skip` is refused. As in AM, `reset` removes the devices.
    func act(_ request: Request, context: AppRequestContext) async throws -> Response {
        let (kind, owner) = (try DeviceKind(context), try context.deviceOwner)
        _ = try await request.json(context)
        guard let action = request.query("_action"), !action.isEmpty else { throw APIError.badRequest }
        switch action {
        case "check" where kind.canBeSkipped: return try JSONReply.make(.ok, ["result": false], version: Self.version)
        case "reset" where kind.canBeSkipped:
            let count = try await server.store.write { tx in try tx.removeDevices(of: owner, kind: kind) }
            server.logger.info(
                "devices removed", metadata: ["kind": "\(kind.rawValue)", "user": "\(owner.name)", "count": "\(count)"])
            return try JSONReply.make(.ok, ["result": true], version: Self.version)
        case "skip" where kind.canBeSkipped: throw APIError(.notImplemented, "A second factor cannot be skipped here.")
        default: throw APIError.unsupportedAction
        }
    }

    /// Removes a device.
    func delete(_ request: Request, context: AppRequestContext) async throws -> Response {
        let (kind, id, owner) = (try DeviceKind(context), try context.parameter("id"), try context.deviceOwner)
        let device = try await server.store.write { tx in try tx.removeDevice(kind, id, of: owner) }
        guard let device else { throw APIError.resourceNotFound }
        server.logger.info("device removed", metadata: ["kind": "\(kind.rawValue)", "user": "\(owner.name)"])
        return try JSONReply.make(.ok, device, version: Self.version)
    }

    /// Renames a device.
    ///
    /// Its other properties are fixed at registration.
    func rename(_ request: Request, context: AppRequestContext) async throws -> Response {
        let (kind, id, owner) = (try DeviceKind(context), try context.parameter("id"), try context.deviceOwner)
        let body = try await request.json(context)
        guard let name = body[kind.nameMember]?.string, name.utf8.count <= 4096 else { throw APIError.badRequest }
        let device = try await server.store.write { tx in
            try tx.devices.rename(kind, id, of: owner, to: name)
            return try tx.devices.description(kind, id, of: owner)
        }
        guard let device else { throw APIError.resourceNotFound }
        return try JSONReply.make(.ok, device, version: Self.version)
    }

    private static func page(_ devices: [JSONValue]) -> JSONValue {
        .object([
            "result": .array(devices), "resultCount": .integer(Int64(devices.count)), "pagedResultsCookie": .null,
            "totalPagedResultsPolicy": .string("NONE"), "totalPagedResults": .integer(-1),
            "remainingPagedResults": .integer(-1),
        ])
    }
}

/// Rejects requests for devices that don't come from their owner.
struct DeviceOwnerMiddleware: RouterMiddleware {
    let server: ServerContext

    func handle(_ request: Request, context: AppRequestContext, next: NextResponder) async throws -> Response {
        try AcceptAPIVersion.check(request.header("accept-api-version"), served: UserDevicesController.version)
        let (tokens, realm) = (request.sessionTokens(server.configuration.cookieName), context.realm)
        let presented = try await server.store.write { tx in try tx.session(tokens, in: realm) }
        guard let presented else { throw APIError.accessDenied }
        guard presented.session.user == (try context.deviceOwner) else { throw APIError(.forbidden, "User not permitted") }
        _ = try DeviceKind(context)
        return try await next(request, context)
    }
}

extension AppRequestContext {
    /// The user that the path names.
    fileprivate var deviceOwner: UserKey {
        get throws { UserKey(realm: realm, name: try parameter("user")) }
    }
}

/// The kinds of devices that a user can have.
enum DeviceKind: String, Codable, CodingKeyRepresentable, Sendable, CaseIterable {
    case oath
    case push
    case binding
    case webauthn
    case profile

    /// Reads the kind from a path.
    /// - Throws: ``APIError/resourceNotFound`` for an unknown kind.
    fileprivate init(_ context: AppRequestContext) throws(APIError) {
        switch context.route {
        case .profileDevices, .profileDevice: self = .profile
        case .pushDevices, .pushDevice: self = .push
        default:
            guard let kind = DeviceKind(rawValue: try context.parameter("kind")), kind != .profile else {
                throw .resourceNotFound
            }
            self = kind
        }
    }

    /// True when AM lets a user skip this second factor.
    fileprivate var canBeSkipped: Bool { self == .oath || self == .push }

    /// The JSON member that holds the user's name for the device.
    var nameMember: String { self == .profile ? "alias" : "deviceName" }
}
