public import Foundation
import SignetCore
import SignetJourney

/// A device of a user.
///
/// Its JSON form is that of the server. Times are in milliseconds since 1970, and 0 when the server sent none.
public protocol Device: Codable, Sendable {
    /// The ID of the device.
    var id: String { get }
    /// The name of the device.
    var deviceName: String { get }
    /// The path of the devices of this kind below the address of the user.
    var urlSuffix: String { get }
}

/// A device over one of the engine.
protocol EngineDevice: Device {
    /// The kind of the devices.
    static var kind: UserDevice.Kind { get }
    /// The device of the engine.
    var engine: UserDevice { get }
    init(_ engine: UserDevice)
}

extension EngineDevice {
    /// Reads the device of the engine from the JSON form.
    static func decode(_ decoder: any Decoder) throws -> UserDevice {
        guard let device = UserDevice(kind, json: try JSONValue(from: decoder)) else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "the device has no ID"))
        }
        return device
    }
}

extension Date? {
    /// The time in milliseconds since 1970; 0 for none.
    fileprivate var milliseconds: TimeInterval { ((self?.timeIntervalSince1970 ?? 0) * 1000).rounded() }
}

/// A device that generates one-time codes.
public struct OathDevice: Device, EngineDevice {
    static let kind = UserDevice.Kind.oath
    let engine: UserDevice

    /// The ID of the device.
    public var id: String { engine.id }
    /// The name of the device.
    public var deviceName: String { engine.name }
    /// The path of the devices of this kind below the address of the user.
    public var urlSuffix: String { engine.kind.path }
    /// The UUID of the device.
    public var uuid: String { engine.uuid ?? engine.id }
    /// The time of the registration.
    public var createdDate: TimeInterval { engine.createdAt.milliseconds }
    /// The time of the last use.
    public var lastAccessDate: TimeInterval { engine.lastUsedAt.milliseconds }

    init(_ engine: UserDevice) { self.engine = engine }

    /// Decodes a device from the server's JSON.
    public init(from decoder: any Decoder) throws { engine = try Self.decode(decoder) }
    /// Encodes the device as the server's JSON.
    public func encode(to encoder: any Encoder) throws { try engine.json.encode(to: encoder) }
}

/// A device that receives push messages.
public struct PushDevice: Device, EngineDevice {
    static let kind = UserDevice.Kind.push
    let engine: UserDevice

    /// The ID of the device.
    public var id: String { engine.id }
    /// The name of the device.
    public var deviceName: String { engine.name }
    /// The path of the devices of this kind below the address of the user.
    public var urlSuffix: String { engine.kind.path }
    /// The UUID of the device.
    public var uuid: String { engine.uuid ?? engine.id }
    /// The time of the registration.
    public var createdDate: TimeInterval { engine.createdAt.milliseconds }
    /// The time of the last use.
    public var lastAccessDate: TimeInterval { engine.lastUsedAt.milliseconds }

    init(_ engine: UserDevice) { self.engine = engine }

    /// Decodes a device from the server's JSON.
    public init(from decoder: any Decoder) throws { engine = try Self.decode(decoder) }
    /// Encodes the device as the server's JSON.
    public func encode(to encoder: any Encoder) throws { try engine.json.encode(to: encoder) }
}

/// A device with a key that is bound to the user.
public struct BoundDevice: Device, EngineDevice {
    static let kind = UserDevice.Kind.binding
    var engine: UserDevice

    /// The ID of the device.
    public var id: String { engine.id }
    /// The name of the device.
    public var deviceName: String {
        get { engine.name }
        set { engine.name = newValue }
    }
    /// The path of the devices of this kind below the address of the user.
    public var urlSuffix: String { engine.kind.path }
    /// The UUID of the device.
    public var uuid: String { engine.uuid ?? engine.id }
    /// The ID that the device chose for itself.
    public var deviceId: String { engine.deviceID ?? "" }
    /// The time of the registration.
    public var createdDate: TimeInterval { engine.createdAt.milliseconds }
    /// The time of the last use.
    public var lastAccessDate: TimeInterval { engine.lastUsedAt.milliseconds }

    init(_ engine: UserDevice) { self.engine = engine }

    /// Decodes a device from the server's JSON.
    public init(from decoder: any Decoder) throws { engine = try Self.decode(decoder) }
    /// Encodes the device as the server's JSON.
    public func encode(to encoder: any Encoder) throws { try engine.json.encode(to: encoder) }
}

/// A passkey or a security key.
public struct WebAuthnDevice: Device, EngineDevice {
    static let kind = UserDevice.Kind.webauthn
    var engine: UserDevice

    /// The ID of the device.
    public var id: String { engine.id }
    /// The name of the device.
    public var deviceName: String {
        get { engine.name }
        set { engine.name = newValue }
    }
    /// The path of the devices of this kind below the address of the user.
    public var urlSuffix: String { engine.kind.path }
    /// The UUID of the device.
    public var uuid: String { engine.uuid ?? engine.id }
    /// The ID of the credential, in base64url.
    public var credentialId: String { engine.credentialID ?? "" }
    /// The time of the registration.
    public var createdDate: TimeInterval { engine.createdAt.milliseconds }
    /// The time of the last use.
    public var lastAccessDate: TimeInterval { engine.lastUsedAt.milliseconds }

    init(_ engine: UserDevice) { self.engine = engine }

    /// Decodes a device from the server's JSON.
    public init(from decoder: any Decoder) throws { engine = try Self.decode(decoder) }
    /// Encodes the device as the server's JSON.
    public func encode(to encoder: any Encoder) throws { try engine.json.encode(to: encoder) }
}

/// The profile of a device.
public struct ProfileDevice: Device, EngineDevice {
    static let kind = UserDevice.Kind.profile
    var engine: UserDevice

    /// The ID of the device.
    public var id: String { engine.id }
    /// The name of the device, `alias` in the server's JSON.
    public var deviceName: String {
        get { engine.name }
        set { engine.name = newValue }
    }
    /// The path of the devices of this kind below the address of the user.
    public var urlSuffix: String { engine.kind.path }
    /// The identifier that the device reported.
    public var identifier: String { engine.identifier ?? engine.id }
    /// The description of the device in sections.
    public var metadata: [String: Any] { engine.metadata.mapValues(\.any) }
    /// The location of the device; nil when the server has none.
    public var location: Location? {
        engine.location.map { Location(latitude: $0.latitude, longitude: $0.longitude) }
    }
    /// The time of the last use.
    public var lastSelectedDate: TimeInterval { engine.lastUsedAt.milliseconds }

    init(_ engine: UserDevice) { self.engine = engine }

    /// Decodes a device from the server's JSON.
    public init(from decoder: any Decoder) throws { engine = try Self.decode(decoder) }
    /// Encodes the device as the server's JSON.
    public func encode(to encoder: any Encoder) throws { try engine.json.encode(to: encoder) }
}

/// A geographic location (WGS 84).
public struct Location: Codable, Sendable {
    /// The latitude in degrees north.
    public let latitude: Double
    /// The longitude in degrees east.
    public let longitude: Double
}
