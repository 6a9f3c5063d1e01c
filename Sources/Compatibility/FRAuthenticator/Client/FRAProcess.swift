import Logging
import SignetAuthenticator
import SignetStorage
import Synchronization

/// The state of the SDK in a process: the settings for the next start, and the started client.
///
/// A process has one, as in the ForgeRock documentation. A test can have its own.
package final class FRAProcess: Sendable {
    /// The state of this process; in a test, of this task.
    @TaskLocal package static var current = FRAProcess()

    private let state: Mutex<State>

    private struct State: Sendable {
        var settings: LegacySettings
        var started: FRAClient?
        /// The number of starts in progress.
        ///
        /// Each start uses the settings that were present when it began.
        var startsUnderWay = 0
        var failure: (any Error)?
        var logLevel: FRALog.LogLevel = [.warning, .error]
    }

    /// Creates a process without settings.
    package init(_ settings: LegacySettings? = nil) {
        state = Mutex(State(settings: settings ?? LegacySettings(platform: .iOS)))
    }

    var started: FRAClient? { state.withLock { $0.started } }

    var lastError: (any Error)? {
        let state = state.withLock { $0 }
        return state.failure ?? state.started?.lastStorageError
    }

    func set(_ logLevel: FRALog.LogLevel) { state.withLock { $0.logLevel = logLevel } }

    /// The levels that are logged, and the logger.
    var logging: (FRALog.LogLevel, Logger) { state.withLock { ($0.logLevel, $0.settings.logger) } }

    /// Changes the settings for the next start.
    /// - Returns: False, with nothing changed, when the client has started or is about to start.
    func setUp(_ change: (inout LegacySettings) -> Void) -> Bool {
        state.withLock { state in
            guard state.started == nil, state.startsUnderWay == 0 else { return false }
            change(&state.settings)
            return true
        }
    }

    /// Creates a client from the settings.
    func start() {
        let settings = begin()
        end(settings, Result { () throws(StoreError) in try LegacyEngine(opening: settings) })
    }

    /// Creates a client from the settings without blocking the thread.
    func start() async {
        let settings = begin()
        do throws(StoreError) {
            end(settings, .success(try await LegacyEngine(opening: settings)))
        } catch {
            end(settings, .failure(error))
        }
    }

    /// Begins a start.
    ///
    /// From now on the settings cannot be changed.
    private func begin() -> LegacySettings {
        state.withLock { state in
            state.startsUnderWay += 1
            return state.settings
        }
    }

    private func end(_ settings: LegacySettings, _ engine: Result<LegacyEngine, StoreError>) {
        defer { state.withLock { $0.startsUnderWay -= 1 } }
        switch engine {
        case .success(let engine):
            state.withLock { state in
                state.started = FRAClient(engine)
                state.failure = nil
            }
        case .failure(let error):
            settings.log(error, "start")
            state.withLock { $0.failure = error }
        }
    }
}
