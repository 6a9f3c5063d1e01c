import Foundation
import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth
import SignetServer
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@Suite("A user's devices at the server")
struct DeviceClientTests {
    /// Runs `body` with the client of a user of a real server, who is logged in and has a device of each kind but a passkey.
    private static func withDevices(
        log: RequestRecorder = RequestRecorder(), _ configure: (inout ServerProfile) -> Void = { _ in },
        _ body: (DeviceClient, IdentityClient, LiveServer) async throws -> Void
    ) async throws {
        try await LiveServer.with { server in
            let user = TestUser(journey: server.journeys, name: "demo", password: LiveServer.password.text)
            let session = try await user.registerDevices(over: server.transport)
            var profile = server.profile
            configure(&profile)
            let app = try IdentityClient(
                profile, store: .memory(), transport: server.transport, clock: server.clock, requestLogger: { log.add($0) })
            try await app.tokens.adopt(session)
            try await body(app.devices, app, server)
        }
    }

    @Test("A user's devices are listed with what the server knows about them")
    func listsDevices() async throws {
        let log = RequestRecorder()
        try await Self.withDevices(log: log) { devices, _, server in
            let all = try await devices.list()
            #expect(all.map(\.kind) == [.oath, .push, .binding, .profile])
            #expect(all.map(\.name) == ["OATH Device", "Phone", "Tablet", "Laptop"])
            let now = server.clock.now
            for device in all where device.kind != .profile {
                #expect(device.uuid == device.id)
                #expect(abs(try #require(device.createdAt).timeIntervalSince(now)) < 1)
                #expect(device.lastUsedAt != nil)
            }
            #expect(all[2].deviceID == "tablet-1")
            #expect(all[3].id == "laptop-1" && all[3].identifier == "laptop-1")
            #expect(all[3].metadata["platform"] == .object(["deviceName": "Laptop"]))
            #expect(all[3].location == DeviceProfile.Location(latitude: 47.5, longitude: 8.25))
            #expect(all[3].lastUsedAt != nil)
            // The user's name is asked for once.
            _ = try await devices.list(.push)
            let kinds = UserDevice.Kind.allCases.count
            let expected = ["SESSION_INFO"] + [String](repeating: "USER_DEVICES", count: kinds + 1)
            #expect(log.actions == expected)
        }
    }

    @Test("A device of each kind is renamed, keeps all other properties, and is deleted")
    func renamesAndDeletesDevices() async throws {
        try await Self.withDevices { devices, app, _ in
            for device in try await devices.list() {
                let renamed = try await devices.rename(device, to: "Mine: \(device.kind.rawValue) / ü")
                #expect(renamed.name == "Mine: \(device.kind.rawValue) / ü")
                #expect(renamed.id == device.id && renamed.createdAt == device.createdAt && renamed.metadata == device.metadata)
                #expect(try await devices.list(device.kind) == [renamed])
                try await devices.delete(renamed)
                #expect(try await devices.list(device.kind).isEmpty)
                await expectDevices(.notFound) { try await devices.delete(renamed) }
                await expectDevices(.notFound) { try await devices.rename(renamed, to: "x") }
            }
            #expect(try await devices.list().isEmpty)
            #expect(try await app.tokens.session() != nil)
        }
    }

    @Test("A name that is empty or very long is refused without a request")
    func refusesInvalidName() async throws {
        let log = RequestRecorder()
        try await Self.withDevices(log: log) { devices, _, _ in
            let device = try #require(try await devices.list(.push).first)
            let count = log.actions.count
            for name in ["", " \n", String(repeating: "n", count: DeviceClient.maxNameLength + 1)] {
                await expectDevices(.invalidName) { try await devices.rename(device, to: name) }
            }
            #expect(log.actions.count == count)
            let longest = String(repeating: "n", count: DeviceClient.maxNameLength)
            #expect(try await devices.rename(device, to: longest).name == longest)
        }
    }

    @Test("A user without a session, and one whose session has ended at the server, must log in, and nothing is removed")
    func devicesRequireSession() async throws {
        try await Self.withDevices { devices, app, server in
            let device = try #require(try await devices.list(.oath).first)
            let session = try #require(try await app.tokens.session())
            let copy = try IdentityClient(server.profile, store: .memory(), transport: server.transport)
            await expectDevices(.loginRequired) { try await copy.devices.list() }
            // The same session of another client ends at the server.
            try await copy.tokens.adopt(session)
            let report = await copy.logOut()
            #expect(report.isComplete)
            await expectDevices(.loginRequired) { try await devices.list() }
            await expectDevices(.loginRequired) { try await devices.rename(device, to: "x") }
            await expectDevices(.loginRequired) { try await devices.delete(device) }
            #expect(try await app.tokens.session() == session)
            let given = DeviceClient(server.profile, session: session, transport: server.transport)
            await expectDevices(.loginRequired) { try await given.list(.push) }
            let empty = DeviceClient(server.profile, session: SSOToken(value: Secret([])), transport: server.transport)
            await expectDevices(.loginRequired) { try await empty.list() }
        }
    }

    @Test("A client with the session of an app lists the devices of that session's user, and of the next user after a login")
    func followsSession() async throws {
        try await Self.withDevices { devices, app, server in
            let session = try #require(try await app.tokens.session())
            let given = DeviceClient(server.profile, session: session, transport: server.transport)
            #expect(try await given.list().count == 4)
            #expect(try await devices.list().count == 4)
            let other = try await server.devServer.openSession(for: "noa")
            try await app.tokens.adopt(SSOToken(value: Secret(other.utf8)))
            #expect(try await devices.list().isEmpty)
        }
    }

    @Test("A stopped server and a cut connection are network errors that may pass, and change nothing")
    func reportsNetworkErrors() async throws {
        let transport = AsyncHTTPTransport()
        let stopped = try ServerProfile(url: "http://127.0.0.1:1/am")
        let client = DeviceClient(stopped, session: Self.session, transport: transport)
        await expectDevices(.unreachable, isRetryable: true) { try await client.list() }
        await transport.close()
        await expectDevices(.cancelled) { try await client.list(.push) }
    }

    private static let session = SSOToken(value: Secret("session-1".utf8))
}

/// Expects that a request about devices fails with an error of this code.
func expectDevices<Value>(
    _ code: UserDeviceError.Code, isRetryable: Bool? = nil, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Value
) async {
    do {
        _ = try await body()
        Issue.record("the request succeeded", sourceLocation: sourceLocation)
    } catch {
        let error = error as? UserDeviceError
        #expect(error?.code == code, "\(String(describing: error))", sourceLocation: sourceLocation)
        if let isRetryable { #expect(error?.isRetryable == isRetryable, sourceLocation: sourceLocation) }
    }
}
