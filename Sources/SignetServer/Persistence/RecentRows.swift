import SignetCore

/// The values of the rows that this process wrote last, so that a transaction doesn't read, decrypt and decode them again.
///
/// Most rows that a login reads are those that its previous request wrote. Others are changes and locks of the user, which most users
/// do not have: that such a row does not exist is kept too. A ``TransactionQueue`` owns the values, for a store that no
/// other process writes to. They are those of committed batches only.
final class RecentRows: Sendable {
    /// A row as it was committed.
    struct Entry: Sendable {
        let value: any RowValue
        let group: String
        let expiresAt: Int64
    }

    /// A row that a batch has changed: its entry, or nil when the row was removed.
    struct Change: Sendable {
        let key: RowKey
        let entry: Entry?
    }

    /// The conditions under which the values are those of the stored rows.
    struct Validity: Sendable, Hashable {
        /// The number of rows that the store itself has removed (``RowStore/displacements``).
        let displacements: Int
        /// The setting of the clock: rows that expired before the clock was set back do not come back.
        let clock: AdjustableClock.Setting
    }

    private struct State: Sendable {
        var newer: [RowKey: Entry] = [:]
        var older: [RowKey: Entry] = [:]
        /// Rows that do not exist.
        var absent: Set<RowKey> = []
        var validity: Validity?
    }

    /// The maximum number of values.
    static let size = 1000

    private let state = Mutex(State())

    /// Returns the entry of a row; nil when the row has to be read.
    subscript(key: RowKey) -> Entry? { state.withLock { $0.newer[key] ?? $0.older[key] } }

    /// Returns true for a row that was looked for before and does not exist.
    func isAbsent(_ key: RowKey) -> Bool { state.withLock { $0.absent.contains(key) } }

    /// Keeps that a row does not exist, if each login looks for it.
    func keepAbsent(_ key: RowKey) {
        guard RowKind.readByEachLogin.contains(key.kind) else { return }
        state.withLock { state in
            if state.absent.count >= Self.size { state.absent = [] }
            state.absent.insert(key)
        }
    }

    /// Forgets all values unless they are still valid.
    func check(_ validity: Validity) {
        state.withLock { state in
            guard state.validity != validity else { return }
            state = State(validity: validity)
        }
    }

    /// Keeps the values of a committed batch.
    ///
    /// When there are too many, those that were written first are forgotten.
    func keep(_ changes: [Change]) {
        state.withLock { state in
            for change in changes {
                if change.entry != nil, RowKind.readByEachLogin.contains(change.key.kind) { state.absent.remove(change.key) }
                guard RowKind.readByNextRequest.contains(change.key.kind) else { continue }
                state.older[change.key] = nil
                state.newer[change.key] = change.entry
            }
            guard state.newer.count > Self.size / 2 else { return }
            (state.newer, state.older) = ([:], state.newer)
        }
    }

    func forgetAll() { state.withLock { $0 = State() } }
}

extension RowKind {
    /// The kinds whose rows the next request of a login reads after the previous one has written them.
    static let readByNextRequest = Set(
        [RowKind.code, .grant, .guesses, .journey, .loginFlow, .session].map(\.rawValue))
    /// The kinds of which each login looks for a row that most users do not have.
    fileprivate static let readByEachLogin = Set([RowKind.changedUser, .lockout, .guesses, .user].map(\.rawValue))
}
