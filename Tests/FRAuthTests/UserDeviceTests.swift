import FRAuth
import FRCore
import Foundation
import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth
import SignetTesting
import TestSupport
import Testing

import class FRAuth.DeviceClient

@Suite("Devices of a user under the ForgeRock SDK's names")
struct UserDeviceTests {
    /// Runs `body` in a program whose user has a session, and a device of each kind but a passkey.
    private static func withDevices(_ body: (FRAuthFixture) async throws -> Void) async throws {
        try await FRAuthFixture.with { fixture in
            try await AsyncHTTPTransport().use { transport in
                let journey = Journey(try ServerProfile(url: fixture.url, realm: "alpha"), transport: transport)
                let user = TestUser(journey: journey, name: "demo", password: FRAuthFixture.password)
                _ = try await user.registerDevices(over: transport)
            }
            try await fixture.started {
                try await logInForSession()
                try await body(fixture)
            }
        }
    }

    @Test("Devices of each kind are listed and deleted, and those that the SDK can change are renamed")
    func managesDevicesOfForgeRock() async throws {
        try await Self.withDevices { fixture in
            let client = DeviceClient()
            let (oath, push) = (try await client.oath.get(), try await client.push.get())
            #expect(oath.map(\.deviceName) == ["OATH Device"] && push.map(\.deviceName) == ["Phone"])
            let created = try #require(oath.first?.createdDate)
            #expect(abs(created - fixture.clock.now.timeIntervalSince1970 * 1000) < 1000)
            try await client.oath.delete(try #require(oath.first))
            try await client.push.delete(try #require(push.first))
            let (noOath, noPush) = (try await client.oath.get(), try await client.push.get())
            #expect(noOath.isEmpty && noPush.isEmpty)

            var bound = try #require(try await client.bound.get().first)
            #expect(bound.deviceName == "Tablet" && bound.deviceId == "tablet-1")
            bound.deviceName = "Mine"
            try await client.bound.update(bound)
            let renamed = try await client.bound.get()
            #expect(renamed.map(\.deviceName) == ["Mine"])
            var profile = try #require(try await client.profile.get().first)
            #expect(profile.identifier == "laptop-1" && profile.location?.longitude == 8.25 && profile.lastSelectedDate > 0)
            #expect((profile.metadata["platform"] as? [String: Any])?["deviceName"] as? String == "Laptop")
            profile.deviceName = "Mine, too"
            try await client.profile.update(profile)
            try await client.bound.delete(bound)
            try await client.profile.delete(profile)
            let (noBound, noProfile) = (try await client.bound.get(), try await client.profile.get())
            let passkeys = try await client.webAuthn.get()
            #expect(noBound.isEmpty && noProfile.isEmpty && passkeys.isEmpty)
            #expect(fixture.requests.names.last == "USER_DEVICES")
        }
    }

    @Test("An unknown device, a lost session and an SDK that is not started have errors of the ForgeRock SDK")
    func reportsErrorsOfUserDevices() async throws {
        try await Self.withDevices { fixture in
            let client = DeviceClient()
            let device = try #require(try await client.bound.get().first)
            try await client.bound.delete(device)
            await #expect {
                try await client.bound.delete(device)
            } throws: {
                ($0 as? AuthApiError)?.status == 404
            }
            let lost = DeviceClient(options: fixture.options) { Token(value: Secret("unknown".utf8)) }
            await #expect {
                try await lost.oath.get()
            } throws: {
                ($0 as? AuthApiError)?.status == 401
            }
            let empty = DeviceClient(options: fixture.options) { Token(value: Secret([])) }
            await #expect(throws: AuthError.userAuthenticationRequired) { try await empty.push.get() }
            let unset = DeviceClient(options: nil)
            await #expect(throws: ConfigError.invalidSDKState) { try await unset.profile.get() }
            let broken = DeviceClient(options: fixture.options) { throw Unexpected() }
            await #expect(throws: Unexpected.self) { try await broken.webAuthn.get() }
            let away = fixture.options
            away.url = "http://127.0.0.1:1/am"
            await #expect(throws: NetworkError.self) { try await DeviceClient(options: away).oath.get() }
        }
    }
}
