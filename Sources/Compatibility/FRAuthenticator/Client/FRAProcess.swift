import FRCore
import Logging
import SignetAuthenticator
import SignetCore
import SignetStorage

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
        /// The engine of calls before the start; the next start takes it over.
        var waiting: LegacyEngine?
        /// The news of the device token from before the start.
        var tokenNews: TokenNews?
        /// The number of starts in progress.
        ///
        /// Each start uses the settings that were present when it began.
        var startsUnderWay = 0
        var failure: (any Error)?
        var logLevel: LogLevel = [.warning, .error]
    }

    /// Creates a process without settings.
    package init(_ settings: LegacySettings? = nil) {
        state = Mutex(State(settings: settings ?? LegacySettings(platform: .iOS)))
    }

    /// The news that the system has of the device token.
    enum TokenNews: Sendable {
        case token(String)
        case removed
    }

    /// The started client.
    var started: FRAClient? { state.withLock { $0.started } }

    /// Replaces the started client; with nil, the settings can be changed again.
    func replace(_ client: FRAClient?) { state.withLock { $0.started = client } }

    /// Returns the engine of the started client, or one with the settings for the next start.
    ///
    /// The ForgeRock SDK does some work before it is started. Opening a vault blocks the thread.
    /// - Throws: `StoreError` when the store can't be opened.
    func engine() throws(StoreError) -> LegacyEngine {
        let (known, settings) = state.withLock { ($0.started?.engine ?? $0.waiting, $0.settings) }
        if let known { return known }
        let opened: LegacyEngine
        do throws(StoreError) {
            opened = try LegacyEngine(opening: settings)
        } catch {
            settings.log(error, "open the store before the start")
            state.withLock { $0.failure = error }
            throw error
        }
        return state.withLock { state in
            let engine = state.started?.engine ?? state.waiting ?? opened
            if state.started == nil { state.waiting = engine }
            return engine
        }
    }

    /// Returns ``engine()`` if that opens nothing: when a client has started, or the app has set a storage client.
    var openEngine: LegacyEngine? {
        let isOpen = state.withLock { $0.started != nil || $0.waiting != nil || $0.settings.storage != nil }
        return isOpen ? try? engine() : nil
    }

    /// Returns the current code of a mechanism that was decoded.
    ///
    /// A machine without a place for a vault has no account that could lock a time-based code.
    func generateCode(_ mechanism: OathMechanism) throws -> OathTokenCode {
        let engine: LegacyEngine
        do throws(StoreError) {
            engine = try self.engine()
        } catch {
            guard error.code == .noVault, let settings = mechanism.core.oath, case .time = settings.factor else {
                throw LegacyErrors.error(error)
            }
            let now = state.withLock { $0.settings.clock }.now
            return OathTokenCode(settings.code(at: now), madeAt: now)
        }
        return try engine.generateCode(mechanism)
    }

    /// The device token that the system handed over before the start.
    var handedToken: String? {
        if case .token(let token) = state.withLock({ $0.tokenNews }) { token } else { nil }
    }

    /// Passes on the news of the device token, at once or when the client starts.
    func handle(_ news: TokenNews) {
        let client = state.withLock { state in
            if state.started == nil { state.tokenNews = news }
            return state.started
        }
        client?.engine.take(news)
    }

    var lastError: (any Error)? {
        let state = state.withLock { $0 }
        return state.failure ?? state.started?.lastStorageError
    }

    func set(_ logLevel: LogLevel) { state.withLock { $0.logLevel = logLevel } }

    /// The levels that are logged, and the logger.
    var logging: (LogLevel, Logger) { state.withLock { ($0.logLevel, $0.settings.logger) } }

    /// Changes the settings for the next start.
    /// - Returns: False, with nothing changed, when the client has started or is about to start.
    func setUp(_ change: (inout LegacySettings) -> Void) -> Bool {
        state.withLock { state in
            guard state.started == nil, state.startsUnderWay == 0 else { return false }
            change(&state.settings)
            state.waiting = nil
            return true
        }
    }

    /// Creates a client from the settings.
    func start() {
        let (settings, waiting) = begin()
        end(
            settings,
            Swift.Result { () throws(StoreError) in
                if let waiting { waiting } else { try LegacyEngine(opening: settings) }
            })
    }

    /// Creates a client from the settings without blocking the thread.
    func start() async {
        let (settings, waiting) = begin()
        do throws(StoreError) {
            let engine = if let waiting { waiting } else { try await LegacyEngine(opening: settings) }
            end(settings, .success(engine))
        } catch {
            end(settings, .failure(error))
        }
    }

    /// Begins a start.
    ///
    /// From now on the settings cannot be changed.
    private func begin() -> (LegacySettings, LegacyEngine?) {
        state.withLock { state in
            state.startsUnderWay += 1
            defer { state.waiting = nil }
            return (state.settings, state.waiting)
        }
    }

    private func end(_ settings: LegacySettings, _ engine: Swift.Result<LegacyEngine, StoreError>) {
        defer { state.withLock { $0.startsUnderWay -= 1 } }
        switch engine {
        case .success(let engine):
            let news = state.withLock { state in
                state.started = FRAClient(engine)
                state.failure = nil
                defer { state.tokenNews = nil }
                return state.tokenNews
            }
            if let news { engine.take(news) }
        case .failure(let error):
            settings.log(error, "start")
            state.withLock { $0.failure = error }
        }
    }
}
