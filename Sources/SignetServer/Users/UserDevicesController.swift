import HTTPTypes
import Hummingbird
import Logging
import SignetCore

/// `/json/.../users/{user}/devices/...`: users manage their own devices (protocol/journey.md section 1.5).
struct UserDevicesController: Sendable {
    static let version = APIVersion(1, 0)
    let server: ServerContext

    func respond(to reader: RequestReader, _ address: ResourceAddress) async throws -> Response {
        try AcceptAPIVersion.check(reader.header("accept-api-version"), served: Self.version)
        let tokens = reader.sessionTokens(server.configuration.cookieName)
        let owner = UserKey(realm: address.realm, name: address.arguments[0])
        let shown = try await server.store.write { tx in tx.session(tokens, in: address.realm) }
        guard let shown else { throw APIError.accessDenied }
        guard shown.session.user == owner else { throw APIError(.forbidden, "User not permitted") }
        guard let kind = DeviceKind(address) else { throw APIError.resourceNotFound }
        guard let id = address.deviceID else {
            try reader.require(.get)
            guard reader.query("_queryFilter") != nil || reader.query("_queryId") != nil else { throw APIError.badRequest }
            let devices = try await server.store.read { tx in tx.devices.descriptions(kind, of: owner) }
            return try JSONReply.make(.ok, Self.page(devices), version: Self.version)
        }
        switch reader.request.method {
        case .get: return try await get(kind, id, owner)
        case .delete: return try await delete(kind, id, owner)
        case .put: return try await put(kind, id, owner, reader)
        default: throw APIError.methodNotAllowed(kind.canBeRenamed ? [.get, .delete, .put] : [.get, .delete])
        }
    }

    private func get(_ kind: DeviceKind, _ id: String, _ owner: UserKey) async throws -> Response {
        let device = try await server.store.read { tx in tx.devices.description(kind, id, of: owner) }
        guard let device else { throw APIError.resourceNotFound }
        return try JSONReply.make(.ok, device, version: Self.version)
    }

    private func delete(_ kind: DeviceKind, _ id: String, _ owner: UserKey) async throws -> Response {
        let device = try await server.store.write { tx in tx.removeDevice(kind, id, of: owner) }
        guard let device else { throw APIError.resourceNotFound }
        server.logger.info("device removed", metadata: ["kind": "\(kind.rawValue)", "user": "\(owner.name)"])
        return try JSONReply.make(.ok, device, version: Self.version)
    }

    /// Renames a device. Its other properties are fixed at registration.
    private func put(
        _ kind: DeviceKind, _ id: String, _ owner: UserKey, _ reader: RequestReader
    ) async throws -> Response {
        guard kind.canBeRenamed else { throw APIError(.notImplemented, "The device cannot be changed.") }
        let body = try await reader.json()
        guard let name = body[kind.nameMember]?.string, name.utf8.count <= 4096 else { throw APIError.badRequest }
        let device = try await server.store.write { tx in
            tx.devices.rename(kind, id, of: owner, to: name)
            return tx.devices.description(kind, id, of: owner)
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

/// The kinds of devices that a user can have.
enum DeviceKind: String, Codable, CodingKeyRepresentable, Sendable, CaseIterable {
    case oath
    case push
    case binding
    case webauthn
    case profile

    init?(_ address: ResourceAddress) {
        switch address.resource {
        case .profileDevices, .profileDevice: self = .profile
        default:
            guard let kind = DeviceKind(rawValue: address.arguments[1]), kind != .profile else { return nil }
            self = kind
        }
    }

    var canBeRenamed: Bool { self != .oath && self != .push }

    /// The JSON member that holds the user's name for the device.
    var nameMember: String { self == .profile ? "alias" : "deviceName" }
}

extension ResourceAddress {
    /// The ID of the addressed device; nil for the whole list.
    fileprivate var deviceID: String? {
        switch resource {
        case .secondFactorDevice, .profileDevice: arguments.last
        default: nil
        }
    }
}
