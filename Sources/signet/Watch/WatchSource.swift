import Foundation
import SignetAuthenticator
import SignetCore
import SignetStorage

/// The vault of `signet watch`, opened by this process or held by the agent.
struct WatchSource: Sendable {
    let authenticator: any VaultAuthenticator
    /// The directory of the vault; nil when it is not known.
    let directory: VaultDirectory?

    /// Reads everything that is shown.
    /// - Parameters:
    ///   - date: The current time.
    ///   - checksRecords: True to count the records that cannot be read, which takes as long as reading all others.
    /// - Returns: The contents.
    /// - Throws: `StoreError`; ``Failure`` of the agent.
    func contents(at date: Date, checksRecords: Bool) async throws -> WatchContents {
        let accounts = try await authenticator.accounts()
        let codes = try await authenticator.currentCodes()
        let notifications = try await authenticator.notifications()
        var contents = WatchContents(accounts, codes: codes, notifications: notifications, at: date)
        if checksRecords {
            let damaged = try await authenticator.damagedRecords()
            contents.damagedCount = damaged.filter { $0.kind == .account || $0.kind == .mechanism }.count
        }
        return contents
    }

    /// Returns the state of the vault's files, by which a change is noticed without reading the vault.
    func stamp() -> VaultStamp { VaultStamp(directory) }
}

/// The times and sizes of the files of a vault.
///
/// Every process that changes the vault writes to one of these files, the agent too.
struct VaultStamp: Sendable, Hashable {
    private struct File: Sendable, Hashable {
        let modified: Date?
        let size: Int?
    }

    private let files: [File]

    /// Reads the state of the files; that of no files when the directory is not known.
    init(_ directory: VaultDirectory?) {
        guard let directory else {
            files = []
            return
        }
        files = [directory.recordsPath, directory.recordsPath + "-wal"].map { path in
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            return File(
                modified: attributes?[.modificationDate] as? Date, size: FileStatus(at: path, followsLinks: true)?.size)
        }
    }

    /// Returns true when a later change is certain to give another state.
    ///
    /// The system's clock for files has steps of some milliseconds, so two changes within one step can look like one.
    func isSettled(at date: Date) -> Bool {
        !files.isEmpty && files.allSatisfy { $0.modified.map { abs(date.timeIntervalSince($0)) > 1 } ?? true }
    }
}

/// The presence of a user, confirmed by a word that the user has typed in `signet watch`.
struct TypedPresence: UserPresence {
    func confirm(_ notification: PushNotification) async throws {}
}

/// The listener of `signet watch --listen` for one mechanism.
struct WatchListener: Sendable {
    let session: Session
    let mechanismUID: String

    /// An event that the view shows.
    enum Event: Sendable {
        /// Messages arrive from now on.
        case connected
        /// A message is in the vault.
        case received
        /// Something failed. The listener goes on unless it has ended.
        case failed(Failure)
    }

    /// Listens until the task is canceled, or until the server refuses.
    func run(_ report: @escaping @Sendable (Event) -> Void) async {
        do {
            try await session.online { authenticator in
                let listener = PushStreamListener(authenticator, mechanismUID: mechanismUID)
                try await listener.run { event in
                    switch event {
                    case .connected: report(.connected)
                    case .received: report(.received)
                    case .refused(let error): report(.failed(Failure(error)))
                    case .disconnected(let error, _): report(.failed(Failure(error)))
                    }
                }
            }
        } catch is CancellationError {
            return
        } catch {
            report(.failed(Failure(error)))
        }
    }
}
