// The devices of a user with the API of the Ping SDK.
import PingDeviceClient

// snippet.hide
func renameDevices(session token: String) async throws {
    // snippet.show
    let client = DeviceClient(config: DeviceClientConfig(serverUrl: "https://am.example.com/am", realm: "alpha", ssoToken: token))
    for var device in try await client.push.get().get() {
        device.deviceName = "Work phone"
        _ = await client.push.update(device)
    }
    // snippet.hide
}
