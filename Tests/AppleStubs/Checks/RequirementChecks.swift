import Foundation
import Security
import SignetCore
import SignetStorage

/// A directory without a vault.
private let nowhere = VaultDirectory(path: "/nonexistent/signet")
private let key = RecordKey(.account, "Harbor Bank", "mira")

/// The checks of what the app and the operator require of the vault in the keychain, and of what is logged about it.
let requirementChecks: [Check] = [
    Check("a required key in hardware that the device does not have creates nothing") {
        StandInEnclave.setMissing(true)
        defer { StandInEnclave.setMissing(false) }
        let preferences = VaultPreferences()
        preferences.require(.hardware)
        try expect(.protectionTooWeak) { _ = try DefaultStore.open(in: nowhere, preferences) }
        for (level, code) in [("hardware", StoreError.Code.protectionTooWeak), ("strong", StoreError.Code.invalid)] {
            try expect(code) {
                _ = try DefaultStore.open(in: nowhere, VaultPreferences(), environment: ["SIGNET_REQUIRE": level])
            }
        }
        try expect(StandInKeychain.items.isEmpty, "there are \(StandInKeychain.items.count) items")
        let weaker = try DefaultStore.open(in: nowhere, VaultPreferences(), environment: ["SIGNET_REQUIRE": "separate-key"])
        try weaker.put([7], key)
        try expect(.protectionTooWeak) { _ = try DefaultStore.open(in: nowhere, preferences) }
        try expect(try weaker.get(key) == [7], "the record is another")
    },
    Check("a device with an enclave has what is required") {
        let preferences = VaultPreferences()
        preferences.require(.hardware)
        try DefaultStore.open(in: nowhere, preferences).put([7], key)
        try expect(try DefaultStore.open(in: nowhere, preferences).get(key) == [7], "the record is another")
    },
    Check("a requirement that is raised after the vault was opened fails each call") {
        StandInEnclave.setMissing(true)
        defer { StandInEnclave.setMissing(false) }
        let preferences = VaultPreferences()
        let opened = try DefaultStore.open(in: nowhere, preferences)
        try opened.put([7], key)
        preferences.require(.hardware)
        try expect(.protectionTooWeak) { _ = try opened.get(key) }
        try expect(.protectionTooWeak) { try opened.put([8], key) }
        try expect(try DefaultStore.open(in: nowhere, VaultPreferences()).get(key) == [7], "the record is another")
    },
    Check("the vault of an access group has its keychain's requirement, before it is created and at each call") {
        StandInEnclave.setMissing(true)
        defer { StandInEnclave.setMissing(false) }
        let strict = VaultProvider.keychain(accessGroup: "shared")
        strict.require(.hardware)
        try expect(await code(of: strict) == .protectionTooWeak, "it was opened")
        try expect(sharedItems().isEmpty, "\(sharedItems().count) items are in the group")
        let raised = VaultProvider.keychain(accessGroup: "shared")
        try expect(await code(of: raised) == nil, "it was not opened")
        raised.require(.hardware)
        try expect(await code(of: raised) == .protectionTooWeak, "it was read")
    },
    Check("the vault of an access group has the requirement of the vault whose preferences it shares") {
        StandInEnclave.setMissing(true)
        defer { StandInEnclave.setMissing(false) }
        let preferences = VaultPreferences()
        _ = try DefaultStore.open(in: nowhere, preferences)
        let shared = VaultProvider.keychain(accessGroup: "shared", preferences: preferences)
        preferences.require(.hardware)
        try expect(await code(of: shared) == .protectionTooWeak, "it was opened")
        try expect(sharedItems().isEmpty, "\(sharedItems().count) items are in the group")
    },
    Check("the vault of an access group with a recovery key opens with the passphrase of its preferences") {
        let recovery = try await VaultProvider.keychain(accessGroup: "shared").addRecoveryKey()
        StandInEnclave.forgetKeys()
        let preferences = VaultPreferences()
        let shared = VaultProvider.keychain(accessGroup: "shared", preferences: preferences)
        try expect(await code(of: shared) == .keyUnavailable, "it was opened without a key")
        preferences.askForPassphrase { () throws(StoreError) in recovery }
        try expect(await code(of: shared) == nil, "the recovery key did not open it")
    },
    Check("the creation of a vault is logged once, with the way to a recovery key, and as a warning without an enclave") {
        for (isMissing, level, part) in [(false, "notice", "secure-enclave"), (true, "warning", "no Secure Enclave")] {
            StandInKeychain.reset()
            StandInEnclave.setMissing(isMissing)
            defer { StandInEnclave.setMissing(false) }
            let log = LogLines()
            for _ in 1...2 { _ = try DefaultStore.open(in: nowhere, VaultPreferences(), logger: log.logger) }
            let line = log.lines.first ?? ""
            try expect(
                log.lines.count == 1 && line.hasPrefix(level) && line.contains(part) && line.contains("addRecoveryKey"),
                "\(log.lines)")
        }
    },
    Check("a recovery key opens the vault after the enclave has lost its key") {
        let preferences = VaultPreferences()
        let opened = try DefaultStore.open(in: nowhere, preferences)
        try opened.put([7], key)
        guard let vault = try (opened as? CheckedVault)?.opened() else { throw CheckFailure(description: "it is another store") }
        let recovery = try vault.addRecoveryKey()
        StandInEnclave.forgetKeys()
        try expect(.keyUnavailable) { _ = try DefaultStore.open(in: nowhere, preferences) }
        preferences.askForPassphrase { () throws(StoreError) in recovery }
        try expect(try DefaultStore.open(in: nowhere, preferences).get(key) == [7], "the record is another")
    },
    Check("a secured key of an access group is in that group, with the time at which it can be used") {
        let times: [(KeyAccess.Time, CFString)] = [
            (.afterFirstUnlock, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly),
            (.whenUnlocked, kSecAttrAccessibleWhenUnlockedThisDeviceOnly),
            (.whenPasscodeSet, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly),
        ]
        for (time, protection) in times {
            StandInKeychain.reset()
            let access = KeyAccess(group: "shared", time: time)
            let first = try SecuredKey(tag: "signet.check", in: nil, of: .default, for: access)
            let second = try SecuredKey(tag: "signet.check", in: nil, of: .default, for: access)
            try expect(first.publicKey == second.publicKey, "there are two keys")
            let found = sharedItems()
            try expect(found.count == 1, "\(found.count) keys are in the group")
            try expect(found[0][kSecAttrAccessControl] == "access(\(protection))", "\(found[0])")
        }
    },
]

/// Returns the items of the access group `shared`.
private func sharedItems() -> [[String: String]] {
    StandInKeychain.items.filter { $0[kSecAttrAccessGroup]?.contains("shared") == true }
}

/// Returns the code of the failure to read from a keychain; nil when it could be read.
private func code(of keychain: VaultProvider) async -> StoreError.Code? {
    do throws(StoreError) {
        _ = try await keychain.read { (records) throws(StoreError) in try records.record(key) }
        return nil
    } catch {
        return error.code
    }
}
