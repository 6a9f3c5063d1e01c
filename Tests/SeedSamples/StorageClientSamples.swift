// The samples stand here as their documents have them.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// The sample's class is public, so the modules of its types are imported publicly.
public import FRAuthenticator
import Foundation
import Logging
import SignetCore
import SignetNetwork
import SignetTesting
import Testing

/// The document's protocol, as an app implements it: a dictionary for each kind of object.
public class CustomStorageClient: StorageClient {
    private var accounts: [String: Account] = [:]
    private var mechanisms: [String: Mechanism] = [:]
    private var notifications: [String: PushNotification] = [:]

    public init() {}

    @discardableResult public func setAccount(account: Account) -> Bool {
        accounts[account.identifier] = account
        return true
    }

    @discardableResult public func removeAccount(account: Account) -> Bool {
        accounts[account.identifier] = nil
        return true
    }

    public func getAccount(accountIdentifier: String) -> Account? { accounts[accountIdentifier] }

    public func getAllAccounts() -> [Account] { Array(accounts.values) }

    @discardableResult public func setMechanism(mechanism: Mechanism) -> Bool {
        mechanisms[mechanism.identifier] = mechanism
        return true
    }

    @discardableResult public func removeMechanism(mechanism: Mechanism) -> Bool {
        mechanisms[mechanism.identifier] = nil
        return true
    }

    public func getMechanismsForAccount(account: Account) -> [Mechanism] {
        mechanisms.values.filter { $0.accountIdentifier == account.identifier }
    }

    public func getMechanismForUUID(uuid: String) -> Mechanism? { mechanisms.values.first { $0.mechanismUUID == uuid } }

    @discardableResult public func setNotification(notification: PushNotification) -> Bool {
        notifications[notification.identifier] = notification
        return true
    }

    @discardableResult public func removeNotification(notification: PushNotification) -> Bool {
        notifications[notification.identifier] = nil
        return true
    }

    public func getAllNotificationsForMechanism(mechanism: Mechanism) -> [PushNotification] {
        notifications.values.filter { $0.mechanismUUID == mechanism.mechanismUUID }
    }

    @discardableResult public func isEmpty() -> Bool { accounts.isEmpty && mechanisms.isEmpty && notifications.isEmpty }
}

/// The server of the samples.
enum SampleApp {
    static let start = Date(timeIntervalSince1970: 1_735_689_600)
    static let secret = "wh4BisPebv-FgKLqSuSZH_CS4ZuWe9A0P-pYsvNcd8U"

    static var uri: String {
        let endpoint = "https://am.example.test/am/json/alpha/push/sns/message?_action="
        func base64(_ text: String) -> String { Base64.encode(Array(text.utf8), as: .url) }
        return "mfauth://totp/Harbor%20Bank:mira?r=\(base64(endpoint + "register"))&a=\(base64(endpoint + "authenticate"))"
            + "&s=\(secret)&c=G2tcJpKPq_TRfT9Ga8Tl3Bf-chv9McNIF8xTwrf5yUU&m=REGISTER:1&issuer=\(base64("Harbor Bank"))"
            + "&secret=KDJ7CDBNBTGWZBQC7WMBG46RPBZ6L4UD"
    }

    /// A network in which each server accepts each request.
    static var transport: ScriptedTransport {
        ScriptedTransport { _ in HTTPResponse(status: 200, body: Array("{}".utf8)) }
    }

    static var settings: LegacySettings {
        var settings = LegacySettings(platform: .iOS, transport: transport, clock: ManualClock(start))
        settings.logger = Logger(label: "samples", factory: { _ in SwiftLogNoOpLogHandler() })
        return settings
    }

    /// The context information of the document.
    static let contextInfo =
        #"{"location":{"latitude":51.4517076,"longitude":-2.5950234},"userAgent":"Mozilla/5.0 (Macintosh)","#
        + #""remoteIp":"198.51.100.23"}"#

    /// Returns the message that the server signs for a mechanism.
    static func message(to mechanism: String, _ kind: PushKind = .tap, at time: Date = start) throws -> String {
        PushMessage(
            mechanismUID: mechanism, challenge: Array("challenge".utf8), kind: kind, timeToLive: 120, sentAt: time,
            text: "Login attempt from Demo at ForgeRock", customPayload: #"{"transaction":"42"}"#,
            contextInfo: contextInfo
        ).sealed(with: Secret(try Base64.decode(secret)))
    }
}

/// Gives each sample a process state of its own: the documentation's client is shared within a process.
struct OwnProcess: TestTrait, SuiteTrait, TestScoping {
    let isRecursive = true

    func provideScope(
        for test: Test, testCase: Test.Case?, performing sample: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await FRAProcess.$current.withValue(FRAProcess(SampleApp.settings)) { try await sample() }
    }
}

/// The error for a missing prerequisite of a sample.
struct Missing: Error {}

/// The samples of the storage client document, word for word, each inside a test.
@Suite("Storage client samples of the ForgeRock documentation", OwnProcess())
struct StorageClientSamples {
    /// The app of the document for iOS, which makes no asynchronous call.
    private struct App {
        func start() {
            // Initiate your custom StorageClient
            let customStorageClient = CustomStorageClient()
            // Register it with your FRAClient
            FRAClient.setStorage(storage: customStorageClient)
            // Initiate the SDK
            FRAClient.start()
        }
    }

    @Test("On iOS the app registers a storage client and starts the SDK")
    func registersStorageClientOnIOS() async throws {
        App().start()
        let client = try #require(FRAClient.shared)
        #expect(client.getAllAccounts().isEmpty)
        _ = try await client.createMechanismFromUri(
            "otpauth://totp/Harbor%20Bank:mira?secret=KDJ7CDBNBTGWZBQC7WMBG46RPBZ6L4UD")
        #expect(client.getAllAccounts().map(\.issuer) == ["Harbor Bank"])
    }

    @Test("On iOS the app cannot change the storage client after the start of the SDK")
    func rejectsStorageChangeAfterStart() throws {
        try FRAClient.setStorage(storage: CustomStorageClient()).get()
        FRAClient.start()
        #expect(throws: FRAError.invalidStateForChangingStorage) {
            try FRAClient.setStorage(storage: CustomStorageClient()).get()
        }
    }

    /// The activity of the document for Android.
    private final class Activity {
        func onCreate() throws -> FRAClient {
            //Initiate your custom StorageClient
            let customStorageClient = CustomStorageClient()

            //Register it to FRAClient
            let fraClient = try FRAClient.FRAClientBuilder()
                .withContext(self)
                .withStorage(customStorageClient)
                .start()
            return fraClient
        }
    }

    @Test("On Android the app registers a storage client with the builder")
    func registersStorageClientOnAndroid() async throws {
        let fraClient = try Activity().onCreate()
        let mechanism = try await fraClient.createMechanismFromUri(
            "otpauth://totp/Harbor%20Bank:mira?secret=KDJ7CDBNBTGWZBQC7WMBG46RPBZ6L4UD")
        #expect(fraClient.getMechanismByUUID(mechanism.mechanismUUID)?.identifier == mechanism.identifier)
    }

    /// The document's interface for Android, as an app implements it.
    private final class LabelFreeStorageClient: AndroidStorageClient {
        private var accounts: [String: Account] = [:]
        private var mechanisms: [String: Mechanism] = [:]
        private var notifications: [String: PushNotification] = [:]

        func getAccount(_ accountId: String) -> Account? { accounts[accountId] }
        func getAllAccounts() -> [Account] { Array(accounts.values) }
        func removeAccount(_ account: Account) -> Bool {
            accounts[account.identifier] = nil
            return true
        }
        func setAccount(_ account: Account) -> Bool {
            accounts[account.identifier] = account
            return true
        }
        func getMechanismsForAccount(_ account: Account) -> [Mechanism] {
            mechanisms.values.filter { $0.accountIdentifier == account.identifier }
        }
        func getMechanismByUUID(_ mechanismUID: String) -> Mechanism? {
            mechanisms.values.first { $0.mechanismUUID == mechanismUID }
        }
        func removeMechanism(_ mechanism: Mechanism) -> Bool {
            mechanisms[mechanism.identifier] = nil
            return true
        }
        func setMechanism(_ mechanism: Mechanism) -> Bool {
            mechanisms[mechanism.identifier] = mechanism
            return true
        }
        func getAllNotificationsForMechanism(_ mechanism: Mechanism) -> [PushNotification] {
            notifications.values.filter { $0.mechanismUUID == mechanism.mechanismUUID }
        }
        func removeNotification(_ pushNotification: PushNotification) -> Bool {
            notifications[pushNotification.identifier] = nil
            return true
        }
        func setNotification(_ pushNotification: PushNotification) -> Bool {
            notifications[pushNotification.identifier] = pushNotification
            return true
        }
        func isEmpty() -> Bool { accounts.isEmpty && mechanisms.isEmpty && notifications.isEmpty }
    }

    @Test("On Android a storage client has the methods of the document, without labels")
    func storesInLabelFreeClient() async throws {
        let fraClient = try await FRAClient.FRAClientBuilder().withStorage(LabelFreeStorageClient()).start()
        let mechanism = try await fraClient.createMechanismFromUri(
            "otpauth://totp/Harbor%20Bank:mira?secret=KDJ7CDBNBTGWZBQC7WMBG46RPBZ6L4UD")
        #expect(fraClient.getMechanismByUUID(mechanism.mechanismUUID)?.identifier == mechanism.identifier)
        #expect(fraClient.getAllAccounts().map(\.issuer) == ["Harbor Bank"])
    }
}
