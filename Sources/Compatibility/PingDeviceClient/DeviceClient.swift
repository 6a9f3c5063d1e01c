import PingLogger
import SignetCore
import SignetJourney

/// The devices of a user at the server: those for one-time codes and push messages, bound devices, passkeys, and profiles of
/// devices.
///
///     let client = DeviceClient(config: DeviceClientConfig(serverUrl: "https://am.example.com/am", ssoToken: token))
///     let devices = try await client.push.get().get()
///
/// The server is asked once for the name of the session's user.
public final class DeviceClient: Sendable {
    private let engine: Result<SignetJourney.DeviceClient, DeviceError>

    /// Creates a client.
    ///
    /// An invalid configuration is the error of each call.
    public init(config: DeviceClientConfig) {
        do throws(DeviceError) { engine = .success(try config.client()) } catch { engine = .failure(error) }
    }

    /// The devices that generate one-time codes.
    public var oath: any DeviceRepository<OathDevice> { UserDevices<OathDevice>(engine: engine) }
    /// The devices that receive push messages.
    public var push: any DeviceRepository<PushDevice> { UserDevices<PushDevice>(engine: engine) }
    /// The devices with a key that is bound to the user.
    public var bound: any DeviceRepository<BoundDevice> { UserDevices<BoundDevice>(engine: engine) }
    /// The profiles of devices.
    public var profile: any DeviceRepository<ProfileDevice> { UserDevices<ProfileDevice>(engine: engine) }
    /// The passkeys and security keys.
    public var webAuthn: any DeviceRepository<WebAuthnDevice> { UserDevices<WebAuthnDevice>(engine: engine) }
}

/// The devices of one kind, as the engine lists and changes them.
private struct UserDevices<T: EngineDevice>: DeviceRepository {
    let engine: Result<SignetJourney.DeviceClient, DeviceError>

    func get() async -> Result<[T], DeviceError> {
        await result("list") { client throws(UserDeviceError) in try await client.list(T.kind).map { T($0) } }
    }

    func delete(_ device: T) async -> Result<T, DeviceError> {
        await result("delete") { client throws(UserDeviceError) in
            try await client.delete(device.engine)
            return device
        }
    }

    func update(_ device: T) async -> Result<T, DeviceError> {
        await result("update") { client throws(UserDeviceError) in
            try await client.rename(device.engine, to: device.deviceName)
            return device
        }
    }

    private func result<Value>(
        _ operation: String, _ body: (SignetJourney.DeviceClient) async throws(UserDeviceError) -> Value
    ) async -> Result<Value, DeviceError> {
        switch engine {
        case .failure(let error): return failure(operation, error)
        case .success(let client):
            do throws(UserDeviceError) {
                return .success(try await body(client))
            } catch {
                return failure(operation, DeviceError(error))
            }
        }
    }

    private func failure<Value>(_ operation: String, _ error: DeviceError) -> Result<Value, DeviceError> {
        LogManager.logger.e("The request to \(operation) devices failed", error: error)
        return .failure(error)
    }
}
