import SignetCore
import SignetStorage

/// The files of a folder, read before the vault is changed.
struct FolderContents: Sendable {
    /// The states of other machines.
    ///
    /// A machine has several when a file sync program has kept two versions of its file.
    private(set) var peers: [SyncState] = []
    /// The newest readable state of each other machine, by its id.
    private(set) var newestPeers: [String: SyncState] = [:]
    /// The state in the file of this machine, when it is newer than the vault: the vault was restored from an older copy, or copied
    /// to a second machine.
    private(set) var newerOwn: SyncState?
    /// The number of the file of this machine; nil without a readable one.
    private(set) var ownSequence: Int?
    /// The pictures in the files, by id.
    private(set) var icons: [String: AccountIcon] = [:]
    /// A report with the files that were not read.
    private(set) var report = SyncReport()

    /// Reads the files.
    ///
    /// A file that cannot be read is reported and left as it is.
    /// - Parameters:
    ///   - folder: The folder.
    ///   - settings: The settings of this machine.
    /// - Throws: ``SyncError`` for a folder that is missing, cannot be read, or lost all files.
    init(_ folder: SyncFolder, _ settings: SyncSettings) throws(SyncError) {
        let names = try folder.fileNames()
        guard !names.isEmpty || !settings.hasWritten else {
            throw SyncError(
                .emptyFolder,
                "the folder \(folder.path) has no file of this synchronization; is its file system mounted? Nothing was changed. "
                    + "If the files were removed on purpose, 'signet sync init' with the folder writes this machine's file again")
        }
        for name in names.dropFirst(SyncFolder.maxFiles) {
            skip(name, "tooMany", "more than \(SyncFolder.maxFiles) files are not read")
        }
        for name in names.prefix(SyncFolder.maxFiles) {
            guard let file = read(name, in: folder, settings.keys) else { continue }
            for icon in file.icons { icons[icon.id] = icon }
            if file.state.machine == settings.state.machine {
                takeOwn(file.state, name, settings.state)
            } else {
                take(file.state, name, settings.state)
            }
        }
        report.machineCount = newestPeers.count
        // An older version of a file beside the newest one is usual: a file sync program keeps both.
        let current = Set(newestPeers.values.map { settings.state.name(of: $0.machine) })
        report.olderFiles = report.olderFiles.filter { !current.contains($0.machine) }
    }

    private mutating func read(_ name: String, in folder: SyncFolder, _ keys: [SyncKey]) -> SyncFile? {
        do {
            return try SyncFile(opening: folder.contents(of: name), with: keys)
        } catch let error as ImportError {
            skip(name, error.code.rawValue, error.reason)
        } catch let error as StoreError {
            skip(name, error.code.rawValue, error.reason)
        } catch {
            skip(name, "unexpected", "it cannot be read")
        }
        return nil
    }

    private mutating func skip(_ name: String, _ code: String, _ reason: String) {
        report.skippedFiles.append(SyncReport.SkippedFile(name: name, code: code, reason: reason))
    }

    /// Adds the state of another machine, unless an older version of its file was read before.
    private mutating func take(_ state: SyncState, _ name: String, _ own: SyncState) {
        let newest = own.machines[state.machine]?.sequence ?? -1
        guard state.sequence >= newest else {
            report.olderFiles.append(
                SyncReport.OlderFile(
                    name: name, machine: own.name(of: state.machine), sequence: state.sequence, newest: newest))
            return
        }
        peers.append(state)
        if let known = newestPeers[state.machine], known.sequence >= state.sequence { return }
        newestPeers[state.machine] = state
    }

    /// Compares a file of this machine with the vault.
    private mutating func takeOwn(_ state: SyncState, _ name: String, _ own: SyncState) {
        // Only the file with the usual name counts as written: the other ones are older versions that a file sync program kept.
        if name == SyncFolder.fileName(of: own.machine) { ownSequence = state.sequence }
        guard state.isAhead(of: own), newerOwn.map({ $0.sequence < state.sequence }) ?? true else { return }
        newerOwn = state
    }
}
