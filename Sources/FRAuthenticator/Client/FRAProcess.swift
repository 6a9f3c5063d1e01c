import Logging
import SignetAuthenticator
import SignetStorage
import Synchronization

/// What has been set for the client that is to start, and the one that has: one for each process, as the documents have it.
/// A test may have one of its own.
package final class FRAProcess: Sendable {
    /// That of this process; in a test, that of this task.
    @TaskLocal package static var current = FRAProcess()

    private let state: Mutex<State>

    struct State: Sendable {
        var storage: ClientBox?
        var policies: PolicyBox?
        var presence: (any FRAUserPresence)?
        var settings: LegacySettings?
        var started: FRAClient?
        /// How many starts are under way: each goes on with what was set when it began.
        var startsUnderWay = 0
        var failure: (any Error)?
        var logLevel: FRALog.LogLevel = [.warning, .error]
    }

    /// A process in which nothing has been set.
    package init(_ settings: LegacySettings? = nil) {
        state = Mutex(State(settings: settings))
    }

    var started: FRAClient? { state.withLock { $0.started } }

    var lastError: (any Error)? {
        let state = state.withLock { $0 }
        return state.failure ?? state.started?.lastStorageError
    }

    func set(_ logLevel: FRALog.LogLevel) { state.withLock { $0.logLevel = logLevel } }

    /// Which lines are written, and where.
    var logging: (FRALog.LogLevel, Logger) {
        let (level, settings) = state.withLock { ($0.logLevel, $0.settings) }
        return (level, settings?.logger ?? LegacySettings.usualLogger)
    }

    /// Changes what the client will be started with.
    /// - Returns: False when it has started, or is about to; nothing is changed then.
    func set(_ change: (inout State) -> Void) -> Bool {
        state.withLock { state in
            guard state.started == nil, state.startsUnderWay == 0 else { return false }
            change(&state)
            return true
        }
    }

    /// Changes the settings that the client will be started with.
    /// - Returns: False when it has started, or is about to; nothing is changed then.
    func setUp(_ change: (inout LegacySettings) -> Void) -> Bool {
        set { state in
            var settings = state.settings ?? LegacySettings(platform: .iOS)
            change(&settings)
            state.settings = settings
        }
    }

    /// Makes a client of what was set.
    func start() {
        let start = begin()
        end(start, Result { () throws(StoreError) in try LegacyEngine.Backing(start.storage, vault: start.settings.vault) })
    }

    /// The same, awaited.
    func start() async {
        let start = begin()
        do throws(StoreError) {
            end(start, .success(try await LegacyEngine.Backing.opened(start.storage, vault: start.settings.vault)))
        } catch {
            end(start, .failure(error))
        }
    }

    /// What a client is started with.
    private struct Start {
        let storage: ClientBox?
        let policies: PolicyBox
        let presence: (any FRAUserPresence)?
        let settings: LegacySettings
    }

    /// From now on nothing that was set can be changed.
    private func begin() -> Start {
        state.withLock { state in
            let policies = state.policies ?? PolicyBox(FRAPolicyEvaluator())
            let settings = state.settings ?? LegacySettings(platform: .iOS)
            (state.policies, state.settings) = (policies, settings)
            state.startsUnderWay += 1
            return Start(storage: state.storage, policies: policies, presence: state.presence, settings: settings)
        }
    }

    private func end(_ start: Start, _ backing: Result<LegacyEngine.Backing, StoreError>) {
        defer { state.withLock { $0.startsUnderWay -= 1 } }
        switch backing {
        case .success(let backing):
            let engine = LegacyEngine(
                backing: backing, policies: start.policies, presence: start.presence, settings: start.settings)
            state.withLock { state in
                state.started = FRAClient(engine)
                state.failure = nil
            }
        case .failure(let error):
            start.settings.note(error, "start")
            state.withLock { $0.failure = error }
        }
    }
}

extension LegacyEngine.Backing {
    /// The app's own storage client, or else the user's vault: in `vault`, or the usual place.
    init(_ storage: ClientBox?, vault: VaultDirectory?) throws(StoreError) {
        if let storage {
            self = .client(storage)
        } else {
            // What is opened seals its records itself: a vault, or the platform's keychain.
            let place = if let vault { vault } else { try VaultDirectory.usual() }
            self = .records(AccountRecords(unsealed: try StandardStore.open(in: place)))
        }
    }

    /// The same, on a thread of its own.
    static func opened(_ storage: ClientBox?, vault: VaultDirectory?) async throws(StoreError) -> LegacyEngine.Backing {
        try await Blocking.run { () throws(StoreError) in try LegacyEngine.Backing(storage, vault: vault) }
    }
}
