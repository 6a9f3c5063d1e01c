import Foundation
import PingDeviceClient
import SignetCore
import SignetNetwork
import SignetServer
import SignetTesting
import TestSupport
import Testing

@Suite("Devices of a user under the Ping SDK's names")
struct DeviceRepositoryTests {
    /// Runs `body` with the client of a user of a real server who has a device of each kind but a passkey.
    private static func withDevices(_ body: (DeviceClient, TestServer.Live) async throws -> Void) async throws {
        let configuration = ServerConfiguration {
            $0.users = [User(name: "demo", password: Secret("password".utf8))]
            $0.pollInterval = .milliseconds(20)
        }
        try await TestServer.live(configuration) { server in
            let session = try await server.user().registerDevices(over: server.transport)
            let client = DeviceClient(
                config: DeviceClientConfig(
                    serverUrl: server.url, ssoToken: session.value.text, httpClient: HttpClient(transport: server.transport)))
            try await body(client, server)
        }
    }

    @Test("The devices of each kind are listed, renamed and deleted at a real server")
    func managesDevicesOfPing() async throws {
        try await Self.withDevices { client, _ in
            let (oath, push) = (try await client.oath.get().get(), try await client.push.get().get())
            let (bound, profile) = (try await client.bound.get().get(), try await client.profile.get().get())
            #expect(oath.map(\.deviceName) == ["OATH Device"] && push.map(\.deviceName) == ["Phone"])
            #expect(bound.map(\.deviceName) == ["Tablet"] && bound.map(\.deviceId) == ["tablet-1"])
            #expect(profile.map(\.deviceName) == ["Laptop"] && profile.map(\.identifier) == ["laptop-1"])
            let passkeys = try await client.webAuthn.get().get()
            #expect(passkeys.isEmpty)
            let platform = profile.first?.metadata["platform"] as? [String: any Sendable]
            #expect(platform?["deviceName"] as? String == "Laptop")
            #expect(profile.first?.location?.latitude == 47.5)

            try await renameAndDelete(oath, client.oath) { $0.deviceName = "Mine" }
            try await renameAndDelete(push, client.push) { $0.deviceName = "Mine" }
            try await renameAndDelete(bound, client.bound) { $0.deviceName = "Mine" }
            try await renameAndDelete(profile, client.profile) { $0.deviceName = "Mine" }
        }
    }

    private func renameAndDelete<T: Device>(
        _ devices: [T], _ repository: any DeviceRepository<T>, _ rename: (inout T) -> Void
    ) async throws {
        var device = try #require(devices.first)
        rename(&device)
        let updated = try await repository.update(device).get()
        #expect(updated.deviceName == "Mine")
        let listed = try await repository.get().get()
        #expect(listed.map(\.deviceName) == ["Mine"] && listed.map(\.id) == [device.id])
        let deleted = try await repository.delete(device).get()
        #expect(deleted.id == device.id)
        let left = try await repository.get().get()
        #expect(left.isEmpty)
        let again = await repository.delete(device)
        #expect(again.failedStatus == 404)
    }

    @Test("Times are in seconds, and the JSON form of a device is that of the server")
    func convertsTimesOfDevices() async throws {
        let text =
            #"{"_id":"a","uuid":"a","deviceName":"Key","credentialId":"AQID","createdDate":1728415453606,"lastAccessDate":0}"#
        let device = try JSONDecoder().decode(WebAuthnDevice.self, from: Data(text.utf8))
        #expect(device.createdDate == 1_728_415_453.606 && device.lastAccessDate == 0)
        #expect(device.credentialId == "AQID" && device.urlSuffix == "devices/2fa/webauthn")
        let encoded = try JSON.value(of: JSONEncoder().encode(device))
        let expected = try JSON.value(of: text.utf8)
        #expect(encoded == expected)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(OathDevice.self, from: Data("{}".utf8)) }
    }

    @Test("Each error of the engine has the case that an app of the Ping SDK switches over")
    func convertsErrorsOfDevices() async throws {
        try await Self.withDevices { client, server in
            var device = try #require(try await client.push.get().get().first)
            device.deviceName = ""
            let unnamed = await client.push.update(device)
            guard case .failure(.encodingFailed) = unnamed else { throw Unexpected() }
            func list(_ url: String, _ token: String) async -> Result<[PushDevice], DeviceError> {
                let http = HttpClient(transport: server.transport)
                let config = DeviceClientConfig(serverUrl: url, ssoToken: token, httpClient: http)
                return await DeviceClient(config: config).push.get()
            }
            guard case .failure(.invalidToken) = await list(server.url, "") else { throw Unexpected() }
            let lost = await list(server.url, "unknown")
            #expect(lost.failedStatus == 401)
            guard case .failure(let error) = lost else { throw Unexpected() }
            #expect(error.recoverySuggestion == "Log in again." && error.errorDescription?.contains("401") == true)
            guard case .failure(.invalidUrl) = await list("nowhere", "token") else { throw Unexpected() }
            guard case .failure(.invalidUrl) = await list("http://am.example.test/am", "token") else { throw Unexpected() }
            guard case .failure(.networkError) = await list("http://127.0.0.1:1/am", "token") else { throw Unexpected() }
        }
    }

    @Test("A page in the place of a list cannot be decoded")
    func refusesPageInPlaceOfDevices() async throws {
        let http = HttpClient(transport: ScriptedTransport { _ in HTTPResponse(status: 200, body: Array("<html>".utf8)) })
        let client = DeviceClient(config: DeviceClientConfig(serverUrl: "https://am.test/am", ssoToken: "t", httpClient: http))
        guard case .failure(.decodingFailed) = await client.bound.get() else { throw Unexpected() }
    }
}

private struct Unexpected: Error {}

extension Result where Failure == DeviceError {
    /// The status of a rejected request; nil for any other result.
    fileprivate var failedStatus: Int? {
        guard case .failure(.requestFailed(let status, _)) = self else { return nil }
        return status
    }
}
