package import SignetCore

/// The result of a synchronization.
package struct SyncReport: Sendable, Hashable {
    /// An account that another machine has changed.
    package struct Change: Sendable, Hashable {
        /// The account.
        package let account: AccountID
        /// The groups of fields that have other values now.
        package let groups: [SyncGroup]
    }

    /// A counter that another machine continues.
    package struct MovedCounter: Sendable, Hashable {
        /// The account.
        package let account: AccountID
        /// The name of the machine that generates the codes now.
        package let owner: String
        /// True when this machine has used a code that the other machine may have used too.
        package let mayRepeat: Bool
    }

    /// A file that was not read.
    package struct SkippedFile: Sendable, Hashable {
        /// The name of the file.
        package let name: String
        /// The code of the error.
        package let code: String
        /// The reason.
        package let reason: String
    }

    /// A file that is older than one that was read before.
    package struct OlderFile: Sendable, Hashable {
        /// The name of the file.
        package let name: String
        /// The name of the machine.
        package let machine: String
        /// The number of the file.
        package let sequence: Int
        /// The number of the newest file that was read.
        package let newest: Int
    }

    /// The accounts that came from other machines.
    package internal(set) var added: [AccountID] = []
    /// The accounts that other machines have changed.
    package internal(set) var changed: [Change] = []
    /// The accounts that were removed because another machine has removed them.
    package internal(set) var removed: [AccountID] = []
    /// The accounts that were added or changed here since the last synchronization.
    package internal(set) var sent: [AccountID] = []
    /// The accounts that were removed here since the last synchronization.
    package internal(set) var sentRemovals: [AccountID] = []
    /// The conflicts that were found.
    package internal(set) var conflicts: [SyncConflict] = []
    /// The counters that other machines have taken.
    package internal(set) var movedCounters: [MovedCounter] = []
    /// The accounts that this version cannot read, or must not show.
    package internal(set) var unreadable: [AccountID] = []
    /// The files that were not read.
    package internal(set) var skippedFiles: [SkippedFile] = []
    /// The files that are older than ones that were read before.
    package internal(set) var olderFiles: [OlderFile] = []
    /// True when the file of this machine is newer than the vault: the vault was restored, or copied to a second machine.
    package internal(set) var isVaultOlder = false
    /// The number of push mechanisms, which are not synchronized.
    package internal(set) var pushCount = 0
    /// The number of other machines whose files were read.
    package internal(set) var machineCount = 0
    /// True when the file of this machine was written.
    package internal(set) var hasWritten = false

    /// Creates an empty report.
    package init() {}
}
