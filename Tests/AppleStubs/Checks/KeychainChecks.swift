import Foundation
import Security
import SignetCore
import SignetStorage

let keychainChecks: [Check] = [
    Check("an item is kept on this device, and nothing is made before the first write") {
        try expect(try store.get(key) == nil, "an empty keychain has a record")
        try expect(StandInKeychain.items.isEmpty, "a read made an item")
        try store.put([1], key)
        try expect(StandInKeychain.items.count == 1, "\(StandInKeychain.items.count) items")
        try expect(
            StandInKeychain.items[0][kSecAttrAccessible] == "text(\"\(kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly)\")",
            "it has another accessibility")
        try expect(StandInKeychain.items[0][kSecAttrSynchronizable] == "flag(false)", "it is synchronized")
    },
    Check("a write that changes nothing does not write") {
        try store.put([1], key)
        let before = StandInKeychain.items
        try store.put([1], key)
        try expect(StandInKeychain.items == before, "the item was written")
    },
    Check("two stores with other names do not see each other") {
        try store.put([1], key)
        for other in [
            KeychainStore(service: "signet.other"), KeychainStore(service: "signet.check", account: "other"),
            KeychainStore(service: "signet.check", accessGroup: "shared"),
        ] {
            try expect(try other.get(key) == nil, "another store has the record")
        }
    },
    Check("another process that changes the item in between makes a write busy, and its own change stays") {
        try store.put([1], key)
        try expect(.busy) {
            try store.write { (records: any RecordWriter) throws(StoreError) in
                try KeychainStore(service: "signet.check").put([2], key)
                try records.put([3], key)
            }
        }
        try expect(try store.get(key) == [2], "the other process's change is gone")
        try store.put([4], key)
        try expect(try store.get(key) == [4], "the next write is not there")
    },
    Check("another process that makes the item first makes a write busy") {
        try expect(.busy, errSecDuplicateItem) {
            try store.write { (records: any RecordWriter) throws(StoreError) in
                try KeychainStore(service: "signet.check").put([2], key)
                try records.put([3], key)
            }
        }
        try expect(try store.get(key) == [2], "the other process's item is gone")
    },
    Check("an item that was removed and made again is not taken for the one that was read") {
        try store.put([1], key)
        try expect(.busy, errSecItemNotFound) {
            try store.write { (records: any RecordWriter) throws(StoreError) in
                StandInKeychain.reset()
                try KeychainStore(service: "signet.check").put([2], key)
                try records.put([3], key)
            }
        }
        try expect(try store.get(key) == [2], "the new item is gone")
    },
    Check("a missing or extra byte is reported as damage, never as absence") {
        try store.put([1, 2, 3], key)
        let bytes = try whole()
        for count in 0..<bytes.count {
            try withData(bytes.prefix(count)) { try expect(.corrupt) { _ = try store.get(key) } }
        }
        try withData(bytes + [0]) { try expect(.corrupt) { _ = try store.get(key) } }
    },
    Check("a newer format is refused and left unchanged") {
        try store.put([1], key)
        let newer = Data(try whole().enumerated().map { $0.offset == 3 ? 2 : $0.element })
        try withData(newer) {
            try expect(.newerFormat) { try store.put([2], key) }
            try expect(try whole() == newer, "it was changed")
        }
    },
]

private let key = RecordKey(.account, "Harbor Bank", "mira")

/// The statuses with which the keychain refuses a call, and the resulting codes.
private let statuses: [(OSStatus, StoreError.Code)] = [
    (errSecInteractionNotAllowed, .keyUnavailable), (errSecInteractionRequired, .keyUnavailable),
    (errSecNotAvailable, .keyUnavailable), (errSecNoSuchKeychain, .keyUnavailable), (errSecServiceNotAvailable, .keyUnavailable),
    (errSecAuthFailed, .denied), (errSecUserCanceled, .denied), (errSecMissingEntitlement, .denied), (errSecReadOnly, .denied),
    (errSecWrPerm, .denied), (errSecDecode, .corrupt), (errSecDiskFull, .full), (errSecDataTooLarge, .full), (errSecIO, .failed),
    (errSecAllocate, .failed), (errSecParam, .failed), (errSecUnimplemented, .failed), (-1, .failed),
]

let statusChecks: [Check] = statuses.map { status, code in
    Check("status \(status) is \(code), and changes nothing") {
        try store.put([1], key)
        for function in [StandInKeychain.Function.update, .copy] {
            StandInKeychain.fail(function, with: status)
            try expect(code, status) { try store.put([2], key) }
            if function == .copy { try expect(code, status) { _ = try store.get(key) } }
            StandInKeychain.fail(function, with: nil)
            try expect(try store.get(key) == [1], "the record is another")
        }
        StandInKeychain.reset()
        StandInKeychain.fail(.add, with: status)
        try expect(code, status) { try store.put([2], key) }
        StandInKeychain.fail(.add, with: nil)
        try expect(try store.get(key) == nil, "there is a record")
    }
}

private func whole() throws -> Data {
    guard let item = StandInKeychain.data.first else { throw CheckFailure(description: "there is no item") }
    return item
}

/// Runs `body` while the item holds `data`, and restores the item's bytes.
private func withData(_ data: Data, _ body: () throws -> Void) throws {
    let before = try whole()
    StandInKeychain.changeData { _ in data }
    try body()
    StandInKeychain.changeData { _ in before }
}
