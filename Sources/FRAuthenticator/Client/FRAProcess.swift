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
        let pending = state.withLock { state in
            state.policies = state.policies ?? PolicyBox(FRAPolicyEvaluator())
            state.settings = state.settings ?? LegacySettings(platform: .iOS)
            state.startsUnderWay += 1
            return state
        }
        defer { state.withLock { $0.startsUnderWay -= 1 } }
        guard let policies = pending.policies, let settings = pending.settings else { return }
        do {
            let engine = LegacyEngine(
                backing: try LegacyEngine.Backing(pending.storage, vault: settings.vault), policies: policies,
                presence: pending.presence,
                settings: settings)
            state.withLock { state in
                state.started = FRAClient(engine)
                state.failure = nil
            }
        } catch {
            settings.note(error, "start")
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
}
