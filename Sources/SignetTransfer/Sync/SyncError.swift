/// An error that prevents a synchronization.
///
/// Nothing was changed.
package struct SyncError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error.
    package enum Code: String, Sendable, Hashable {
        /// The vault takes part in no synchronization.
        case notSetUp
        /// The vault takes part in a synchronization with another folder.
        case alreadySetUp
        /// The folder does not exist, for example because its file system is not mounted.
        case noFolder
        /// The folder has no file of the synchronization, although this machine has written one.
        case emptyFolder
        /// The folder cannot be read.
        case unreadableFolder
        /// A record of the vault cannot be read. What is missing in the vault could be taken for removed.
        case damagedRecords
        /// The record about the synchronization in the vault cannot be read.
        case damagedState
        /// The account is not synchronized, or has no counter.
        case noCounter
        /// This machine generates the codes of the counter already.
        case ownCounter
        /// The counter would be greater than a counter can be.
        case counterExhausted
        /// No conflict has this number, or its value cannot be stored again.
        case noConflict
    }

    /// The kind of the error.
    package let code: Code
    /// A description for people, without secrets.
    package let description: String

    /// Creates an error.
    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    static let notSetUp = SyncError(
        .notSetUp, "this vault is not synchronized; 'signet sync init' with a folder begins or joins a synchronization")
}
