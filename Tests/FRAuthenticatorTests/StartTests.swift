import FRAuthenticator
import Foundation
import Logging
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import TestSupport
import Testing

/// Tests of the shared client; each test has an `FRAProcess` of its own.
@Suite("Start of the shared client")
struct StartTests {
    private static func process(_ transport: ScriptedTransport = ScriptedTransport(ClientFixture.accept)) -> FRAProcess {
        FRAProcess(ClientFixture.settings(transport, ManualClock(Sample.start)))
    }

    @Test("Starting creates the shared client and fixes its storage client and policy evaluator")
    func startFixesStorageAndPolicies() throws {
        try FRAProcess.$current.withValue(Self.process()) { try begin() }
    }

    private func begin() throws {
        #expect(FRAClient.shared == nil)
        let recording = ClientRecording()
        try FRAClient.setStorage(storage: RecordingClient(recording)).get()
        try FRAClient.setPolicyEvaluator(policyEvaluator: FRAPolicyEvaluator())
        FRAClient.start()
        let client = try #require(FRAClient.shared)

        let other = ClientRecording()
        #expect(throws: FRAError.invalidStateForChangingStorage) {
            try FRAClient.setStorage(storage: RecordingClient(other)).get()
        }
        #expect(FRAClient.lastStorageError as? FRAError == .invalidStateForChangingStorage)
        #expect(throws: FRAError.invalidStateForChangingPolicyEvaluator) {
            try FRAClient.setPolicyEvaluator(policyEvaluator: FRAPolicyEvaluator())
        }
        _ = client.getAllAccounts()
        FRAClient.start()
        #expect(FRAClient.shared !== client)
        _ = FRAClient.shared?.getAllAccounts()
        let listings = recording.calls.filter { $0 == "getAllAccounts" }
        #expect(listings.count == 2)
        #expect(other.calls.isEmpty)
    }

    @Test("The app sets a transport and interceptors before the start, and cannot change them after it")
    func startFixesTransportAndInterceptors() async throws {
        let transport = ScriptedTransport(ClientFixture.accept)
        try await FRAProcess.$current.withValue(Self.process(ScriptedTransport { _ in HTTPResponse(status: 500) })) {
            try FRAClient.setStorage(storage: RecordingClient(ClientRecording())).get()
            try FRAClient.setTransport(transport: transport)
            try FRAClient.setInterceptors(interceptors: [HeaderInterceptor()])
            await FRAClient.start()
            for change in [
                { try FRAClient.setTransport(transport: transport) }, { try FRAClient.setInterceptors(interceptors: []) },
            ] { #expect(throws: FRAError.invalidStateForChangingPolicyEvaluator) { try change() } }
            let client = try #require(FRAClient.shared)
            try client.registerForRemoteNotifications("token-1")
            _ = try await client.createMechanismFromUri(Sample.combined)
            let actions = transport.requests.map { $0.headers["X-Action"] }
            #expect(actions == ["PUSH_REGISTER"])
        }
    }

    @Test("Each push request identifies the SDK, whatever an interceptor of the app sets")
    func identifiesForgeRockSDKInPushRequests() async throws {
        for (platform, name) in [(.iOS, "ios"), (.android, "android")] as [(LegacySettings.Platform, String)] {
            let transport = ScriptedTransport(ClientFixture.accept)
            let client = try await FRAClientBuilder(ClientFixture.settings(transport, ManualClock(Sample.start), platform))
                .withStorage(RecordingClient(ClientRecording())).withInterceptor(Disguise()).start()
            try client.registerForRemoteNotifications("token-1")
            _ = try await client.createMechanismFromUri(Sample.combined)
            #expect(transport.requests.count == 1)
            for request in transport.requests {
                #expect(request.headers.all("x-requested-with") == ["forgerock-sdk"])
                #expect(request.headers.all("x-requested-platform") == [name])
            }
        }
    }

    @Test("The app cannot change the transport during a start, but can after the start has failed")
    func refusesTransportDuringStart() throws {
        let meanwhile = Tally()
        var settings = ClientFixture.settings(ScriptedTransport(ClientFixture.accept), ManualClock(Sample.start))
        settings.vault = VaultDirectory(path: "/dev/null/vault")
        // The start logs why there is no client before it ends.
        settings.logger = Logger(
            label: "test",
            factory: { _ in
                Listening {
                    if (try? FRAClient.setTransport(transport: ScriptedTransport(ClientFixture.accept))) == nil {
                        meanwhile.add()
                    }
                }
            })
        try FRAProcess.$current.withValue(FRAProcess(settings)) {
            FRAClient.start()
            #expect(meanwhile.value == 1)
            try FRAClient.setTransport(transport: ScriptedTransport(ClientFixture.accept))
        }
    }

    @Test("Without a storage client the start opens the vault and never makes one, and the next start reads its content")
    func opensVaultWithoutStorageClient() async throws {
        try await TemporaryDirectory.with { directory in
            let location = VaultDirectory(path: directory.file("vault"))
            var settings = ClientFixture.settings(ScriptedTransport(ClientFixture.accept), ManualClock(Sample.start))
            settings.vault = location
            // Without a vault there is an empty client. The start and reading create no vault.
            try FRAProcess.$current.withValue(FRAProcess(settings)) {
                FRAClient.start()
                let client = try #require(FRAClient.shared)
                #expect(client.getAllAccounts().isEmpty)
                #expect(FRAClient.lastStorageError == nil)
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
            _ = try location.createVault(.keyFile)
            let uid = try await FRAProcess.$current.withValue(FRAProcess(settings)) {
                await FRAClient.start()
                let client = try #require(FRAClient.shared)
                try client.registerForRemoteNotifications("token-1")
                _ = try await client.createMechanismFromUri(Sample.combined)
                let hotp = try #require(try await client.createMechanismFromUri(Sample.hotp) as? HOTPMechanism)
                #expect(try hotp.generateCode().code == "099169")
                return hotp.mechanismUUID
            }
            try FRAProcess.$current.withValue(FRAProcess(settings)) {
                FRAClient.start()
                let client = try #require(FRAClient.shared)
                #expect(client.getAccount(identifier: Sample.identifier)?.mechanisms.count == 3)
                #expect(FRAPushHandler.shared.deviceToken == "token-1")
                #expect(try (client.getMechanismByUUID(uid) as? HOTPMechanism)?.generateCode().code == "802135")
            }
        }
    }

    @Test("The push handler takes device tokens and notifications, and sends servers a changed token")
    func pushHandlerTakesTokensAndNotifications() async throws {
        let transport = ScriptedTransport(ClientFixture.accept)
        try await FRAProcess.$current.withValue(Self.process(transport)) { try await handOver(transport) }
    }

    private func handOver(_ transport: ScriptedTransport) async throws {
        let recording = ClientRecording()
        try FRAClient.setStorage(storage: RecordingClient(recording)).get()
        #expect(FRAPushHandler.shared.deviceToken == nil)
        await FRAClient.start()
        let handler = FRAPushHandler.shared
        let application = "any application"
        handler.application(application, didRegisterForRemoteNotificationsWithDeviceToken: Data([0xAB, 0x01, 0xFF]))
        #expect(handler.deviceToken == "AB01FF")
        let client = try #require(FRAClient.shared)
        let uri = try #require(URL(string: Sample.push))
        let push = try #require(try await client.createMechanismFromUri(uri: uri) as? PushMechanism)
        let userInfo: [AnyHashable: Any] = [
            "aps": ["messageId": "1", "data": try Sample.message(to: push.mechanismUUID), "alert": "Login"]
        ]
        let notification = try #require(handler.application(application, didReceiveRemoteNotification: userInfo))
        #expect(notification.message == "Login at Harbor Bank")
        #expect(handler.application(application, didReceiveRemoteNotification: ["aps": ["alert": "hello"]]) == nil)
        #expect(handler.application(application, didReceiveRemoteNotification: [:]) == nil)
        let forged = try Sample.message(to: push.mechanismUUID, secret: Sample.challenge)
        #expect(
            handler.application(application, didReceiveRemoteNotification: ["aps": ["messageId": "2", "data": forged]]) == nil)
        #expect(FRAClient.lastStorageError as? CryptoError == .invalidJWT)

        try await handler.updateDeviceToken(mechanism: push, deviceToken: "AB02")
        #expect(transport.requests.last?.url.hasSuffix("refresh") == true)
        #expect(handler.deviceToken == "AB02")
        handler.application(application, didFailToRegisterForRemoteNotificationsWithError: Unexpected())
        #expect(handler.deviceToken == nil)
        #expect(recording.content.token == nil)
    }
}

/// Adds a header with the action of a request.
private struct HeaderInterceptor: RequestInterceptor {
    func intercept(_ request: HTTPRequest, for action: RequestAction) async throws -> HTTPRequest {
        var request = request
        request.headers.append("X-Action", action.name)
        return request
    }
}

/// Calls a closure at each line that is logged.
private struct Listening: LogHandler {
    let onLog: @Sendable () -> Void
    var metadata = Logger.Metadata()
    var logLevel = Logger.Level.trace

    init(_ onLog: @escaping @Sendable () -> Void) { self.onLog = onLog }

    subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { onLog() }
}
