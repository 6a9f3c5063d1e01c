import Logging
import SignetAuthenticator
import SignetStorage
import Synchronization

/// The state of the SDK in a process: the settings for the next start, and the started client. A process has one, as in the
/// ForgeRock documentation. A test can have its own.
package final class FRAProcess: Sendable {
    /// The state of this process; in a test, of this task.
    @TaskLocal package static var current = FRAProcess()

    private let state: Mutex<State>

    struct State: Sendable {
        var storage: ClientBox?
        var policies: PolicyBox?
        var presence: (any FRAUserPresence)?
        var settings: LegacySettings?
        var started: FRAClient?
        /// The number of starts in progress. Each start uses the settings that were present when it began.
        var startsUnderWay = 0
        var failure: (any Error)?
        var logLevel: FRALog.LogLevel = [.warning, .error]
    }

    /// Creates a process without settings.
    package init(_ settings: LegacySettings? = nil) {
        state = Mutex(State(settings: settings))
    }

    var started: FRAClient? { state.withLock { $0.started } }

    var lastError: (any Error)? {
        let state = state.withLock { $0 }
        return state.failure ?? state.started?.lastStorageError
    }

    func set(_ logLevel: FRALog.LogLevel) { state.withLock { $0.logLevel = logLevel } }

    /// The levels that are logged, and the logger.
    var logging: (FRALog.LogLevel, Logger) {
        let (level, settings) = state.withLock { ($0.logLevel, $0.settings) }
        return (level, settings?.logger ?? LegacySettings.usualLogger)
    }

    /// Changes the settings for the next start.
    /// - Returns: False, with nothing changed, when the client has started or is about to start.
    func set(_ change: (inout State) -> Void) -> Bool {
        state.withLock { state in
            guard state.started == nil, state.startsUnderWay == 0 else { return false }
            change(&state)
            return true
        }
    }

    /// Changes the engine's settings for the next start.
    /// - Returns: False, with nothing changed, when the client has started or is about to start.
    func setUp(_ change: (inout LegacySettings) -> Void) -> Bool {
        set { state in
            var settings = state.settings ?? LegacySettings(platform: .iOS)
            change(&settings)
            state.settings = settings
        }
    }

    /// Creates a client from the settings.
    func start() {
        let start = begin()
        end(start, Result { () throws(StoreError) in try LegacyEngine.Backing(start.storage, vault: start.settings.vault) })
    }

    /// Creates a client from the settings without blocking the thread.
    func start() async {
        let start = begin()
        do throws(StoreError) {
            end(start, .success(try await LegacyEngine.Backing.opened(start.storage, vault: start.settings.vault)))
        } catch {
            end(start, .failure(error))
        }
    }

    /// The settings of one start.
    private struct Start {
        let storage: ClientBox?
        let policies: PolicyBox
        let presence: (any FRAUserPresence)?
        let settings: LegacySettings
    }

    /// Begins a start. From now on the settings cannot be changed.
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
    /// Opens the app's own storage client, or the user's vault when the app set none: in `vault`, or in the default location.
    init(_ storage: ClientBox?, vault: VaultDirectory?) throws(StoreError) {
        if let storage {
            self = .client(storage)
        } else {
            // The opened store is a vault, which seals its records itself.
            let place = if let vault { vault } else { try VaultDirectory.default() }
            self = .records(AccountRecords(unsealed: try StandardStore.open(in: place)))
        }
    }

    /// Opens the store on a separate thread.
    static func opened(_ storage: ClientBox?, vault: VaultDirectory?) async throws(StoreError) -> LegacyEngine.Backing {
        try await Blocking.run { () throws(StoreError) in try LegacyEngine.Backing(storage, vault: vault) }
    }
}
