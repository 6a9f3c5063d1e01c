import SignetCore
import SignetJourney
import SignetNetwork

/// The devices of a user at the server: those for one-time codes and push messages, bound devices, passkeys, and profiles of
/// devices.
///
///     let client = DeviceClient()
///     for var device in try await client.bound.get() {
///         device.deviceName = "Work phone"
///         try await client.bound.update(device)
///     }
///
/// Each call asks for the session, and the server for the name of its user.
public final class DeviceClient {
    private let settings: FRSettings?
    private let ssoTokenBlock: () async throws -> Token
    private let process = FRAuthProcess.current

    /// Creates a client.
    /// - Parameters:
    ///   - options: The settings with the server; nil when the SDK is not started, which is then the error of each call.
    ///   - ssoTokenBlock: Returns the session; by default that of the SDK.
    public init(
        options: FROptions? = FRAuth.shared?.options,
        ssoTokenBlock: @escaping () async throws -> Token = { DeviceClient.ssoToken() }
    ) {
        settings = options?.settings
        self.ssoTokenBlock = ssoTokenBlock
    }

    /// The devices that generate one-time codes.
    public var oath: any ImmutableDevice<OathDevice> { UserDevices<OathDevice>(client: self) }
    /// The devices that receive push messages.
    public var push: any ImmutableDevice<PushDevice> { UserDevices<PushDevice>(client: self) }
    /// The devices with a key that is bound to the user.
    public var bound: any MutableDevice<BoundDevice> { UserDevices<BoundDevice>(client: self) }
    /// The profiles of devices.
    public var profile: any MutableDevice<ProfileDevice> { UserDevices<ProfileDevice>(client: self) }
    /// The passkeys and security keys.
    public var webAuthn: any MutableDevice<WebAuthnDevice> { UserDevices<WebAuthnDevice>(client: self) }

    /// Returns the token of the SDK's session; an empty one when no session is stored.
    public static func ssoToken() -> Token { FRSession.currentSession?.sessionToken ?? Token(value: Secret([])) }

    /// Returns the client of the engine for the present session.
    fileprivate func engine() async throws -> SignetJourney.DeviceClient {
        guard let settings else { throw ConfigError.invalidSDKState }
        let session = try await ssoTokenBlock().token
        return SignetJourney.DeviceClient(
            try settings.profile(policy: process.policy), session: session, transport: process.transport,
            interceptors: process.core.legacyInterceptors, clock: process.settings.clock)
    }
}

/// The devices of one kind, as the engine lists and changes them.
private struct UserDevices<T: EngineDevice>: MutableDevice {
    let client: DeviceClient

    func get() async throws -> [T] {
        try await converting { try await $0.list(T.kind).map { T($0) } }
    }

    func delete(_ device: T) async throws {
        try await converting { try await $0.delete(device.engine) }
    }

    func update(_ device: T) async throws {
        try await converting { _ = try await $0.rename(device.engine, to: device.deviceName) }
    }

    private func converting<Value>(_ body: (SignetJourney.DeviceClient) async throws -> Value) async throws -> Value {
        do { return try await body(try await client.engine()) } catch { throw LegacyErrors.error(error) }
    }
}
