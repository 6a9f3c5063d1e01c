import Foundation
import SignetCore
package import SignetStorage

/// The folder of a synchronization, which a file sync program moves between machines.
///
/// It may be on another file system than the vault. Nothing in it is trusted, and no file of another machine is ever changed or
/// removed.
package struct SyncFolder: Sendable {
    /// The absolute path of the folder.
    package let path: String

    private static let prefix = "signet-sync-"
    private static let suffix = ".signet"
    /// The maximum number of files that are read.
    static let maxFiles = 256

    /// Creates a value for the folder at an absolute path.
    package init(path: String) { self.path = path }

    /// Returns the name of the file of a machine.
    package static func fileName(of machine: String) -> String { prefix + machine + suffix }

    /// Returns true for the name of a machine's file, and for the name that a file sync program gives to a second version of one,
    /// such as `signet-sync-ID.sync-conflict-20261127-101500-ABC.signet` or `signet-sync-ID (conflicted copy).signet`.
    package static func isFileName(_ name: String) -> Bool { name.hasPrefix(prefix) && name.hasSuffix(suffix) }

    /// Returns the path of a file in the folder.
    package func location(of name: String) -> String { path.hasSuffix("/") ? path + name : "\(path)/\(name)" }

    /// Returns the names of all files of the synchronization, in alphabetical order.
    /// - Throws: ``SyncError`` when the folder does not exist or cannot be read.
    package func fileNames() throws(SyncError) -> [String] {
        guard let status = FileStatus(at: path, followsLinks: true), status.isDirectory else {
            throw SyncError(
                .noFolder, "the folder \(path) is not there; is its file system mounted? Nothing was changed")
        }
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: path)
        } catch {
            throw SyncError(.unreadableFolder, "the folder \(path) cannot be read; nothing was changed")
        }
        return names.filter(Self.isFileName).sorted()
    }

    /// Reads a file of the folder.
    /// - Throws: `StoreError` when it is not a regular file, cannot be read, or is longer than ``AccountArchive/maxLength``.
    package func contents(of name: String) throws(StoreError) -> [UInt8] {
        let path = self.location(of: name)
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw StoreError(.failed, "read \(name)", String(cString: strerror(errno))) }
        defer { close(descriptor) }
        guard let status = FileStatus(of: descriptor), status.isFile else {
            throw StoreError(.invalid, "read \(name)", "it is not a regular file")
        }
        guard status.size <= AccountArchive.maxLength else {
            throw StoreError(.invalid, "read \(name)", "it is longer than \(AccountArchive.maxLength >> 20) MiB")
        }
        return try PrivateFile.contents(of: descriptor, name, limit: status.size)
    }

    /// Returns one file for each salt, so that a machine that joins can derive the keys.
    /// - Throws: ``SyncError`` when the folder cannot be read; ``ImportError`` when there are files and none of them has a header
    ///   that this version can read.
    package func filesToJoin() throws -> [[UInt8]] {
        var files: [[UInt8]] = []
        var salts: Set<[UInt8]> = []
        var failure: (any Error)?
        for name in try fileNames().prefix(Self.maxFiles) {
            do {
                let bytes = try contents(of: name)
                let header = try ArchiveHeader(bytes, version: SyncFile.version)
                if salts.insert(header.salt).inserted { files.append(bytes) }
            } catch {
                failure = failure ?? error
            }
        }
        if files.isEmpty, let failure { throw failure }
        return files
    }

    /// Replaces the file of a machine in one step, with mode 0600.
    ///
    /// The bytes are on the disk before the file gets its name, so a file sync program and a crash find the old file or the new
    /// one.
    /// - Throws: `StoreError`. The old file is then still there.
    package func write(_ bytes: [UInt8], of machine: String) throws(StoreError) {
        let unfinished = unfinishedPrefix(of: machine)
        removeUnfinished(unfinished)
        let temporary = location(of: "\(unfinished)\(RandomID.uuid().prefix(8)).new")
        try PrivateFile.create(temporary, containing: bytes)
        do throws(StoreError) {
            try PrivateFile.move(temporary, to: location(of: Self.fileName(of: machine)))
        } catch {
            if error.code != .outcomeUnknown { PrivateFile.remove(temporary) }
            throw error
        }
    }

    /// Removes the file of a machine, with the unfinished ones.
    package func remove(_ machine: String) {
        removeUnfinished(unfinishedPrefix(of: machine))
        PrivateFile.remove(location(of: Self.fileName(of: machine)))
    }

    /// The begin of the names of files that this machine has not finished.
    ///
    /// File sync programs leave out names with a dot, or move them; no machine reads them.
    private func unfinishedPrefix(of machine: String) -> String { ".\(Self.prefix)\(machine)." }

    /// Removes the files of this machine that a killed process left unfinished.
    private func removeUnfinished(_ prefix: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        for name in names where name.hasPrefix(prefix) && name.hasSuffix(".new") { PrivateFile.remove(location(of: name)) }
    }
}
