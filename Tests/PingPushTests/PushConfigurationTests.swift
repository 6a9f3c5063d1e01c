import Foundation
import PingPush
import SignetStorage
import TestSupport
import Testing

@Suite("PushConfiguration")
struct PushConfigurationTests {
    @Test("A new configuration has the defaults of the Ping SDK")
    func defaultOptions() {
        for config in [PushConfiguration(), PushConfiguration.build { _ in }] {
            let storage: (any PushStorage)? = config.storage
            #expect(storage == nil && config.accountStore == nil && config.accountItem == nil)
            #expect(config.policyEvaluator == nil && config.encryptionEnabled && config.timeoutMs == 15_000)
            #expect(!config.enableCredentialCache && config.customPushHandlers.isEmpty)
            #expect(config.notificationCleanupConfig.cleanupMode == .countBased)
            #expect(config.notificationCleanupConfig.maxStoredNotifications == 100 && config.plainHTTPHosts.isEmpty)
        }
    }

    @Test("All options can be changed, and the last storage counts")
    func changesPushOptions() {
        let config = PushConfiguration.build { config in
            config.encryptionEnabled = false
            config.timeoutMs = 30_000
            config.enableCredentialCache = true
            config.logger = LogManager.warning
            config.customPushHandlers = ["CUSTOM": "CustomHandler", "OTHER": Answering()]
            config.notificationCleanupConfig = .hybrid(maxNotifications: 5, maxAgeDays: 7)
            config.policyEvaluator = MfaPolicyEvaluator.create()
            config.storage = AccountRecords(unsealed: MemoryStore())
            config.storage = ListStorage()
        }
        #expect(!config.encryptionEnabled && config.timeoutMs == 30_000 && config.enableCredentialCache)
        #expect(config.logger is WarningLogger && config.policyEvaluator != nil)
        #expect(config.customPushHandlers.count == 2 && config.customPushHandlers["CUSTOM"] as? String == "CustomHandler")
        #expect(config.notificationCleanupConfig.maxNotificationAgeDays == 7)
        let isList = config.storage is ListStorage
        #expect(isList && config.accountStore == nil)
        config.storage = AccountRecords(unsealed: MemoryStore())
        let storage: (any PushStorage)? = config.storage
        #expect(storage == nil && config.accountStore != nil)
        config.storage = MemoryStorage<StoredAccounts>()
        #expect(config.accountItem != nil && config.accountStore == nil)
    }

    @Test("A value that is not a PushHandler is ignored, with a warning in the log")
    func ignoresOtherHandlers() async throws {
        let logger = RecordingLogger()
        let fixture = try await PushClientFixture {
            $0.storage = MemoryStorage()
            $0.customPushHandlers = ["CUSTOM": "CustomHandler"]
            $0.logger = logger
        }
        _ = try await fixture.enroll()
        let isWarned = logger.lines.contains { $0.level == .warning && $0.text.contains("PushHandler") }
        #expect(isWarned)
    }

    @Test("A timeout that is not between a millisecond and a day is refused", arguments: [0, -1, 86_400_001])
    func refusesTimeout(milliseconds: Int) async {
        await #expect(throws: PushError.self) {
            _ = try await PushClient.createClient { config in
                config.storage = ListStorage()
                config.timeoutMs = milliseconds
            }
        }
    }
}

@Suite("NotificationCleanupConfig")
struct NotificationCleanupConfigTests {
    /// A configuration with its mode, the number of notifications and the age in days.
    static let configurations: [(NotificationCleanupConfig, NotificationCleanupConfig.CleanupMode, Int, Int)] = [
        (NotificationCleanupConfig(), .countBased, 100, 30), (.default(), .countBased, 100, 30), (.none(), .none, 100, 30),
        (NotificationCleanupConfig(cleanupMode: .hybrid, maxStoredNotifications: 50, maxNotificationAgeDays: 7), .hybrid, 50, 7),
        (NotificationCleanupConfig(cleanupMode: .hybrid, maxStoredNotifications: -5, maxNotificationAgeDays: -1), .hybrid, 1, 1),
        (NotificationCleanupConfig(cleanupMode: .hybrid, maxStoredNotifications: 0, maxNotificationAgeDays: 0), .hybrid, 1, 1),
        (.countBased(), .countBased, 100, 30), (.countBased(maxNotifications: 5), .countBased, 5, 30),
        (.ageBased(), .ageBased, 100, 30), (.ageBased(maxAgeDays: 7), .ageBased, 100, 7),
        (.hybrid(), .hybrid, 100, 30), (.hybrid(maxNotifications: 5, maxAgeDays: 7), .hybrid, 5, 7),
    ]

    @Test("A configuration has the values of the Ping SDK, and numbers below 1 count as 1", arguments: configurations)
    func hasPingConfigurationValues(
        row: (config: NotificationCleanupConfig, mode: NotificationCleanupConfig.CleanupMode, count: Int, days: Int)
    ) async {
        let config = await Task { row.config }.value
        #expect(config.cleanupMode == row.mode && config.maxStoredNotifications == row.count)
        #expect(config.maxNotificationAgeDays == row.days)
    }

    @Test("The modes have the names of the Ping SDK")
    func namesModesAsPingSDK() {
        let names = NotificationCleanupConfig.CleanupMode.allCases.map(\.rawValue)
        #expect(names == ["NONE", "COUNT_BASED", "AGE_BASED", "HYBRID"])
    }
}
