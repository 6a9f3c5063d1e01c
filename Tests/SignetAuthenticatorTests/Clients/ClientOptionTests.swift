import Foundation
import PingOath
import PingPush
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@Suite("Options of the clients", .timeLimit(.minutes(5)))
struct ClientOptionTests {
    // MARK: storage, encryptionEnabled

    @Test("Option storage: The last assignment counts, and nil selects the default vault")
    func storageOption() async throws {
        let itemFile = ItemFile()
        let config = OathConfiguration.build { config in
            config.storage = AccountRecords(unsealed: MemoryStore())
            config.storage = AppStorage(itemFile)
        }
        #expect(config.accountStore == nil && config.storage == nil)
        let isItem = config.accountItem is AppStorage<StoredAccounts>
        #expect(isItem)
        _ = try await OathClient(configuration: config).addCredentialFromUri(Sample.totp)
        #expect(itemFile.saves == 1)
        let reset = OathConfiguration.build { config in
            config.storage = AppStorage(itemFile)
            config.storage = nil
        }
        let (item, store) = (reset.accountItem, reset.accountStore)
        #expect(item == nil && store == nil && reset.storage == nil)
    }

    @Test("Option storage: The default vault is opened when no storage is given, and a missing vault is reported as an error")
    func opensDefaultVault() async throws {
        await #expect {
            _ = try await OathClient.createClient { config in
                config.keychain = VaultProvider { () throws(StoreError) in throw StoreError(.noVault, "open vault", "make one") }
            }
        } throws: { error in
            if case OathError.initializationFailed(let text, let cause) = error {
                (cause as? StoreError)?.code == .noVault && text.contains("make one")
            } else {
                false
            }
        }
        try await TemporaryDirectory.with { directory in
            let location = VaultDirectory(path: directory.file("vault"))
            let keychain = VaultProvider { () throws(StoreError) in try location.createVault(.keyFile) }
            for _ in 0..<2 {
                let oath = try await OathClient.createClient { $0.keychain = keychain }
                let push = try await PushClient.createClient { $0.keychain = keychain }
                if try await oath.getCredentials().isEmpty { try await oath.addCredentialFromUri(Sample.totp) }
                try await push.setDeviceToken("token-1")
                #expect(try await oath.getCredentials().count == 1)
            }
        }
    }

    @Test("Option encryptionEnabled: An unencrypted database is refused unless encryption is turned off")
    func refusesUnencryptedStorage() async throws {
        try await TemporaryDirectory.with { directory in
            let clear = AccountRecords(unsealed: try SQLiteStore(path: directory.file("clear"), creating: true))
            for store: any AccountStore in [clear, RemoteAccountRecords(clear)] {
                await #expect {
                    _ = try await OathClient.createClient { $0.storage = store }
                } throws: { error in
                    if case OathError.initializationFailed(_, let cause as StoreError) = error {
                        cause.code == .denied
                    } else {
                        false
                    }
                }
                await #expect(throws: PushError.self) { _ = try await PushClient.createClient { $0.storage = store } }
                let client = try await OathClient.createClient { config in
                    config.storage = store
                    config.encryptionEnabled = false
                }
                #expect(try await client.getCredentials().isEmpty)
            }
        }
    }

    @Test("Option encryptionEnabled: A vault encrypts whether the option is on or off", arguments: [true, false])
    func vaultAlwaysEncrypts(isEnabled: Bool) async throws {
        try await TemporaryDirectory.with { directory in
            let vault = try VaultDirectory(path: directory.file("vault")).createVault(.keyFile)
            let client = try await OathClient.createClient { config in
                config.storage = AccountRecords(vault)
                config.encryptionEnabled = isEnabled
            }
            try await client.addCredentialFromUri(Sample.totp)
            let secret = Data(try Base32.decode(Sample.oathKey))
            let base64 = Data(secret.base64EncodedString().utf8)
            let files = try FileManager.default.subpathsOfDirectory(atPath: directory.path)
            for file in files {
                guard let bytes = FileManager.default.contents(atPath: directory.file(file)) else { continue }
                #expect(
                    bytes.range(of: secret) == nil && bytes.range(of: base64) == nil && bytes.range(of: Data("mira".utf8)) == nil)
            }
            #expect(!files.isEmpty)
        }
    }

    // MARK: timeoutMs

    @Test("Option timeoutMs: A call to a storage that does not answer times out, and later calls work again")
    func slowStorageTimesOut() async throws {
        let itemFile = ItemFile()
        let client = try await OathClient.createClient { config in
            config.storage = AppStorage(itemFile)
            config.timeoutMs = 0.2
        }
        let credential = try await client.addCredentialFromUri(Sample.hotp)
        itemFile.gate.close()
        for _ in 0..<3 {
            await #expect {
                try await client.generateCode(credential.id)
            } throws: { error in
                if case OathStorageError.storageFailure(_, let cause as StoreError) = error { cause.code == .busy } else { false }
            }
        }
        itemFile.gate.open()
        // The call that timed out ends first; then the storage works again, and no counter is used twice.
        var code: String?
        while code == nil { code = try? await client.generateCode(credential.id) }
        #expect(code == "099169")
    }

    @Test("Option timeoutMs: A save that timed out has an unknown outcome, and its counter is never used again")
    func slowSaveTimesOut() async throws {
        let itemFile = ItemFile()
        let saving = SlowSaves(itemFile)
        let isSlow = saving.isSlow
        let client = try await OathClient.createClient { config in
            config.storage = saving
            config.timeoutMs = 0.2
        }
        let credential = try await client.addCredentialFromUri(Sample.hotp)
        isSlow.turnOn()
        itemFile.gate.close()
        await #expect {
            try await client.generateCode(credential.id)
        } throws: { error in
            if case OathStorageError.storageFailure(_, let cause as StoreError) = error {
                cause.code == .outcomeUnknown
            } else {
                false
            }
        }
        isSlow.turnOff()
        itemFile.gate.open()
        var code: String?
        while code == nil { code = try? await client.generateCode(credential.id) }
        #expect(code == "802135", "the first counter is used up, and its code was not returned")
    }

    @Test("Option timeoutMs: A request to a server that does not answer times out, even if the transport never does")
    func slowServerTimesOut() async throws {
        let gate = Gate()
        let isSlow = Toggle()
        let fixture = try await PushClientFixture {
            $0.storage = MemoryStorage()
            $0.timeoutMs = 200
        } answer: { _ in
            if isSlow.isOn { await gate.pass() }
            return HTTPResponse(status: 200)
        }
        let credential = try await fixture.enroll()
        #expect(fixture.transport.requests.map(\.timeout) == [.milliseconds(200)])
        let notification = try #require(
            try await fixture.client.processNotification(messageData: PushClientFixture.message(to: credential.id)))
        gate.close()
        isSlow.turnOn()
        await #expect {
            try await fixture.client.approveNotification(notification.id)
        } throws: { error in
            if case PushError.networkFailure(_, let cause as TransportError) = error { cause.code == .timeout } else { false }
        }
        #expect(try await fixture.client.getPendingNotifications() == [notification])
        isSlow.turnOff()
        #expect(try await fixture.client.approveNotification(notification.id))
        gate.open()
    }

    @Test("Option timeoutMs: An OATH client works with any value", arguments: [0, -1, .nan, .infinity, 1e12, 30])
    func acceptsAnyTimeout(seconds: Double) async throws {
        let itemFile = ItemFile()
        let client = try await OathClient.createClient { config in
            config.storage = AppStorage(itemFile)
            config.timeoutMs = seconds
        }
        try await client.addCredentialFromUri(Sample.totp)
        #expect(itemFile.saves == 1)
    }

    // MARK: enableCredentialCache

    @Test(
        "Option enableCredentialCache: Credentials are read from the storage once until something changes",
        arguments: [false, true])
    func cachesCredentials(isEnabled: Bool) async throws {
        let itemFile = ItemFile()
        let isBroken = Toggle()
        let client = try await OathClient.createClient { config in
            config.storage = AppStorage(itemFile)
            config.enableCredentialCache = isEnabled
            config.accountPolicies = AccountPolicies([BreakablePolicy(name: "p", isBroken: isBroken)])
        }
        let policies = Sample.base64(#"{"p":{}}"#)
        var credential = try await client.addCredentialFromUri(Sample.hotp + "&policies=\(policies)")
        let before = itemFile.gets
        for _ in 0..<3 {
            #expect(try await client.getCredentials() == [credential])
            #expect(try await client.getCredential(credential.id) == credential)
        }
        #expect(itemFile.gets - before == (isEnabled ? 1 : 6))

        isBroken.turnOn()
        #expect(try await client.getCredential(credential.id)?.isLocked == true, "a policy lock is evaluated at each read")
        isBroken.turnOff()
        credential.displayIssuer = "Another"
        try await client.saveCredential(credential)
        #expect(try await client.getCredentials().map(\.displayIssuer) == ["Another"])
        _ = try await client.generateCode(credential.id)
        #expect(try await client.getCredential(credential.id)?.counter == 8)

        // Changes by another client are not visible until the cache is emptied.
        let other = try await OathClient.createClient { $0.storage = AppStorage(itemFile) }
        #expect(try await other.deleteCredential(credential.id))
        #expect(try await client.getCredentials().isEmpty == !isEnabled)
        try await client.close()
        #expect(try await client.getCredentials().isEmpty)
    }

    // MARK: logger

    @Test("Option logger: The logger gets a line for each call without secrets or personal data")
    func loggerHidesSecrets() async throws {
        let logger = RecordingLogger()
        let oath = try await OathClient.createClient { config in
            config.storage = MemoryStorage()
            config.logger = logger
        }
        let credential = try await oath.addCredentialFromUri(Sample.hotp)
        let code = try await oath.generateCode(credential.id)
        _ = try? await oath.addCredentialFromUri(Sample.hotp)
        _ = try? await oath.addCredentialFromUri("otpauth://totp/Harbor%20Bank:mira?secret=\(Sample.oathKey)!")
        _ = try? await oath.generateCode("missing")

        let isRefusing = Toggle()
        let fixture = try await PushClientFixture {
            $0.storage = MemoryStorage()
            $0.logger = logger
        } answer: { _ in
            HTTPResponse(status: isRefusing.isOn ? 400 : 200)
        }
        let push = try await fixture.enroll()
        let data = try PushClientFixture.message(to: push.id)
        let notification = try #require(try await fixture.client.processNotification(messageData: data))
        _ = try await fixture.client.denyNotification(notification.id)
        _ = try await fixture.client.approveNotification(notification.id)
        isRefusing.turnOn()
        _ = try await fixture.client.setDeviceToken("token-2")
        await fixture.client.close()

        let lines = logger.lines.map(\.text)
        for call in [
            "Successfully added credential: \(credential.id)", "Successfully generated code for credential: \(credential.id)",
            "Failed to add credential from URI: duplicateMechanism",
            "Failed to generate code for credential missing: unknownMechanism", "secret: ",
            "denyNotification \(notification.id): done", "alreadyAnswered",
            "setDeviceToken \(push.id): notSupported (HTTP 400)", "close: done",
        ] {
            let isLogged = lines.contains { $0.contains(call) }
            #expect(isLogged, "\(call)")
        }
        #expect(Set(logger.lines.map(\.level)) == [.debug, .warning, .error])
        let message = try #require(data["message"] as? String)
        let hidden = [
            Sample.oathKey, code, Sample.secret, "wh4B", Sample.challenge, "Harbor", "mira", "token-1", "token-2", message,
            "Login at", "amlbcookie", "otpauth:", "pushauth:",
        ]
        for text in hidden {
            let revealing = lines.filter { $0.contains(text) }
            #expect(revealing.isEmpty, "\(text)")
        }
    }

    // MARK: policyEvaluator

    @Test("Option policyEvaluator: Policies are checked at enrollment, and an account is locked when one is no longer met")
    func evaluatesPolicies() async throws {
        let isBroken = Toggle()
        let policies = AccountPolicies([BreakablePolicy(name: "p", isBroken: isBroken)])
        let oath = try await OathClient.createClient { config in
            config.storage = MemoryStorage()
            config.accountPolicies = policies
        }
        let push = try await PushClientFixture {
            $0.storage = MemoryStorage()
            $0.accountPolicies = policies
        }
        let parameter = "&policies=" + Sample.base64(#"{"p":{},"unknown":{}}"#)
        isBroken.turnOn()
        await #expect {
            try await oath.addCredentialFromUri(Sample.totp + parameter)
        } throws: {
            if case OathError.policyViolation(let text, "") = $0 { text.contains("p") } else { false }
        }
        await #expect {
            _ = try await push.enroll(Sample.push + parameter)
        } throws: {
            if case PushError.policyViolation = $0 { true } else { false }
        }
        #expect(push.transport.requests.isEmpty)
        isBroken.turnOff()
        let code = try await oath.addCredentialFromUri(Sample.totp + parameter)
        let credential = try await push.enroll(Sample.push + parameter)
        let data = try PushClientFixture.message(to: credential.id)
        isBroken.turnOn()
        let notification = try #require(try await push.client.processNotification(messageData: data), "messages still arrive")
        #expect(try await oath.getCredentials().map(\.isLocked) == [true])
        #expect(try await push.client.getCredentials().map(\.lockingPolicy) == ["p"])
        await #expect(throws: OathError.credentialLocked(code.id)) { try await oath.generateCode(code.id) }
        let sent = push.transport.requests.count
        for isApproving in [true, false] {
            await #expect {
                _ =
                    try await isApproving
                    ? push.client.approveNotification(notification.id) : push.client.denyNotification(notification.id)
            } throws: {
                if case PushError.credentialLocked = $0 { true } else { false }
            }
        }
        #expect(push.transport.requests.count == sent)
        isBroken.turnOff()
        #expect(try await push.client.approveNotification(notification.id))
    }

    // MARK: clock

    @Test("Option clock: Codes and message expiry follow the configured clock")
    func usesConfiguredClock() async throws {
        let clock = ManualClock(Sample.start)
        let oath = try await OathClient.createClient {
            $0.storage = MemoryStorage()
            $0.clock = clock
        }
        let code = try await oath.addCredentialFromUri(Sample.totp)
        let first = try await oath.generateCode(code.id)
        clock.advance(by: 29)
        #expect(try await oath.generateCode(code.id) == first)
        clock.advance(by: 1)
        #expect(try await oath.generateCode(code.id) != first)

        let push = try await PushClientFixture()
        let notification = try #require(
            try await push.client.processNotification(messageData: PushClientFixture.message(to: push.enroll().id)))
        push.clock.advance(by: 120)
        #expect(try await push.client.getPendingNotifications().map(\.id) == [notification.id])
        push.clock.advance(by: 1)
        #expect(try await push.client.getPendingNotifications().isEmpty)
    }

    // MARK: notificationCleanupConfig

    /// A configuration, and which of five messages, one a day, remain: on arrival, and after a manual cleanup ten days later.
    static let cleanups: [(NotificationCleanupConfig, onArrival: [Int], later: [Int])] = [
        (.none(), [5, 4, 3, 2, 1], [5, 4, 3, 2, 1]), (.default(), [5, 4, 3, 2, 1], [5, 4, 3, 2, 1]),
        (.countBased(maxNotifications: 2), [5, 4], [5, 4]), (.countBased(maxNotifications: 0), [5], [5]),
        (.ageBased(maxAgeDays: 2), [5, 4, 3], [5]), (.ageBased(maxAgeDays: 12), [5, 4, 3, 2, 1], [5, 4, 3]),
        (.hybrid(maxNotifications: 2, maxAgeDays: 30), [5, 4], [5, 4]),
        (.hybrid(maxNotifications: 4, maxAgeDays: 2), [5, 4, 3], [5]),
    ]

    @Test(
        "Option notificationCleanupConfig: Notifications are removed by count, by age, by both, or not at all",
        arguments: cleanups, [false, true])
    func cleansUpNotifications(
        row: (NotificationCleanupConfig, onArrival: [Int], later: [Int]), isClosing: Bool
    ) async throws {
        let store = AccountRecords(unsealed: MemoryStore())
        let fixture = try await PushClientFixture {
            $0.storage = store
            $0.notificationCleanupConfig = row.0
        }
        let credential = try await fixture.enroll()
        for number in 1...5 {
            if number > 1 { fixture.clock.advance(by: 86_400) }
            _ = try await fixture.client.processNotification(
                messageData: PushClientFixture.message(to: credential.id, messageId: "\(number)", sentAt: fixture.clock.now))
        }
        #expect(try await fixture.client.getAllNotifications().map(\.messageId) == row.onArrival.map(String.init))
        fixture.clock.advance(by: 10 * 86_400)
        if isClosing {
            await fixture.client.close()
        } else {
            let removed = try await fixture.client.cleanupNotifications(credentialId: credential.id)
            #expect(removed == row.onArrival.count - row.later.count)
            #expect(try await fixture.client.cleanupNotifications() == 0)
        }
        #expect(try await Authenticator(store: store).notifications().map(\.messageID) == row.later.map(String.init))
    }

    // MARK: device, interceptors

    @Test("Options device and interceptors: A registration describes the configured device and passes the interceptors")
    func registersConfiguredDevice() async throws {
        let fixture = try await PushClientFixture {
            $0.storage = MemoryStorage()
            $0.device = PushDevice(token: "unused", name: "Kiosk", type: "ios", communicationType: "apns")
            $0.interceptors = [HeaderInterceptor()]
        }
        let credential = try await fixture.enroll()
        try await fixture.client.setDeviceToken("token-2")
        let requests = fixture.transport.requests
        let actions = requests.map { $0.headers["X-Action"] }
        #expect(actions == ["PUSH_REGISTER", "PUSH_UPDATE"])
        let secret = try Secret(Base64.decode(Sample.secret))
        let claims = try requests.map { request in
            let jwt = try JSONDecoder().decode(JSONValue.self, from: Data(request.body))["jwt"]?.string ?? ""
            return try JSONDecoder().decode(JSONValue.self, from: Data(CompactJWS(jwt).payload(verifiedWith: secret)))
        }
        let deviceIDs = claims.map { $0["deviceId"] }
        #expect(deviceIDs == ["token-1", "token-2"])
        let deviceNames = claims.map { $0["deviceName"] }
        let deviceTypes = claims.map { $0["deviceType"] }
        #expect(deviceNames == ["Kiosk", "Kiosk"] && deviceTypes == ["ios", "ios"])
        #expect(claims.first?["mechanismUid"]?.string == credential.id)
    }
}

/// Adds a header that names the action of a request.
private struct HeaderInterceptor: RequestInterceptor {
    func intercept(_ request: HTTPRequest, for action: RequestAction) async throws -> HTTPRequest {
        var request = request
        request.headers.append("X-Action", action.name)
        return request
    }
}

/// A storage whose saves can be slow.
private final class SlowSaves: Storage {
    let isSlow = Toggle()
    private let itemFile: ItemFile

    init(_ itemFile: ItemFile) {
        self.itemFile = itemFile
    }

    func save(item: StoredAccounts) async throws {
        try itemFile.save(JSONEncoder().encode(item))
        if isSlow.isOn { await itemFile.gate.pass() }
    }

    func get() async throws -> StoredAccounts? {
        try itemFile.get().map { try JSONDecoder().decode(StoredAccounts.self, from: $0) }
    }

    func delete() async throws {}
}
