import SignetCore
import SignetJourney
import SignetOAuth
import SignetStorage
import Synchronization

/// The session and the tokens of one started SDK.
///
/// The properties of the ForgeRock SDK's interface return stored data synchronously. They must not wait for a thread of Swift's
/// pool, because they may block one of those threads themselves. The work that they wait for therefore runs on separate threads,
/// over a store that no other code uses.
final class LegacySession: Sendable {
    let client: IdentityClient
    /// A token source of the same app that reads and removes stored data without a gate.
    private let keeper: TokenSource
    private let place: Place
    private let state = Mutex(State())

    /// The location of the stored data.
    enum Place: Sendable {
        /// A keychain: the gate of the client's store, and a second store of the same items for synchronous reads.
        case keychain(LegacyPlace, Gate, looking: SessionStore)
        /// The app's own store.
        case app
    }

    /// The stored data.
    struct Kept: Sendable {
        var session: SSOToken?
        var token: SignetCore.AccessToken?
        var isEmpty: Bool { session == nil && token == nil }

        /// The token, unless it came from a session other than the stored one. Apps that share a session log one another out.
        var ownToken: SignetCore.AccessToken? {
            token.flatMap { $0.session == session.map(SessionIdentity.init) ? $0 : nil }
        }

        /// True when no user is logged in.
        var isNobody: Bool { session == nil && ownToken == nil }
    }

    private struct State {
        /// The data that was read last, and the store's generation at that time.
        var seen: (kept: Kept, count: Int64)?
        /// The number of logouts and restarts that have not finished the removal of stored data.
        var leaving = 0
        /// The work of the start. It needs a thread of Swift's pool only while `leaving` is above zero.
        var ready: Task<Void, Never>?
        /// The last task in the queue: later work waits for it.
        var tail: Task<Void, Never>?
        var former: Task<LogOutReport?, Never>?
        var failure: StoreError?
        /// The reason for which it is unknown if the stored data may be sent to this server. The data is not used until it is
        /// removed.
        var doubt: StoreError?
        var options: FROptions?
        /// True when the SDK was started with other settings, which end this session.
        var isClosed = false
    }

    init(_ client: IdentityClient, keeper: TokenSource, _ place: Place) {
        self.client = client
        self.keeper = keeper
        self.place = place
    }

    /// The last error from reading or writing stored data.
    var lastFailure: StoreError? { state.withLock { $0.failure } }

    // MARK: Reading

    /// The stored data, read synchronously.
    var kept: Kept {
        let count = keeper.store.generation
        let (seen, isNobody) = state.withLock { ($0.seen, $0.leaving > 0) }
        if isNobody { return Kept() }
        switch place {
        // The app's storage may need the thread that calls. This session reads it after each call that may have changed it.
        case .app: return seen?.kept ?? Kept()
        case .keychain(_, _, let looking):
            if let seen, seen.count == count { return seen.kept }
            return Blocking.wait {
                await self.state.withLock { $0.ready }?.value
                return await self.look(looking)
            }
        }
    }

    /// Returns the stored data.
    /// - Throws: `StoreError` when the data may not be used.
    func current() async throws(StoreError) -> Kept {
        try await settle()
        let count = keeper.store.generation
        if case .keychain = place, let seen = state.withLock({ $0.seen }), seen.count == count { return seen.kept }
        return await look(keeper.store)
    }

    @discardableResult
    private func look(_ store: SessionStore) async -> Kept {
        if state.withLock({ $0.doubt }) != nil { return Kept() }
        let count = store.generation
        do throws(StoreError) {
            let kept = Kept(session: try await store.session(), token: try await store.token())
            state.withLock { $0.seen = (kept, count) }
            return kept
        } catch {
            state.withLock { $0.failure = error }
            return Kept()
        }
    }

    // MARK: Operations

    /// Waits until the removals that began before are complete.
    /// - Throws: The error that prevents the use of the stored data.
    func settle() async throws(StoreError) {
        await wait()
        let (isClosed, doubt) = state.withLock { ($0.isClosed, $0.doubt) }
        if isClosed { throw Gate.isClosed }
        if let doubt { throw doubt }
    }

    func wait() async {
        while let tail = state.withLock({ $0.tail }) {
            await tail.value
            if state.withLock({ $0.tail == tail }) { return }
        }
    }

    /// Runs work with the tokens. Over the app's own store it then reads the stored data again, because such a store does not
    /// report changes.
    /// - Throws: The error of `body`, converted to the ForgeRock SDK's error.
    func run<Value>(_ body: (TokenSource) async throws -> Value) async throws -> Value {
        try await settle()
        do {
            let value = try await body(client.tokens)
            if case .app = place { await look(keeper.store) }
            return value
        } catch {
            if case .app = place { await look(keeper.store) }
            throw LegacyErrors.error(error)
        }
    }

    /// Logs out. When this method returns, this process treats the stored data as removed. The removal precedes all later work.
    func logOut(endsOpenIDSession: Bool) -> Task<LogOutReport, Never> {
        let tokens = keeper
        let taking = state.withLock { state in
            state.leaving += 1
            state.seen = nil
            let before = state.tail
            let taking = Task {
                await before?.value
                let leaving = await tokens.takeOut()
                let isKnown = self.state.withLock { $0.doubt == nil }
                if !isKnown, leaving.isGone { await self.beginAnew() }
                await self.look(tokens.store)
                self.state.withLock { $0.leaving -= 1 }
                return (leaving, isKnown)
            }
            state.tail = Task { _ = await taking.value }
            return taking
        }
        return Task {
            let (leaving, isKnown) = await taking.value
            return isKnown ? await tokens.end(leaving, endsOpenIDSession: endsOpenIDSession) : TokenSource.untold(leaving)
        }
    }

    /// Returns the report about the end of the former session at the server: the session that the last login replaced, or the
    /// session that ended because the SDK was started with other settings. Nil when no session was ended.
    func formerReport() async -> LogOutReport? {
        await wait()
        if let replaced = client.tokens.replaced { return replaced }
        return await state.withLock { $0.former }?.value
    }
}

// MARK: Starting

extension LegacySession {
    /// The SDK that was started before.
    struct Former: Sendable {
        let session: LegacySession
        let options: FROptions
    }

    /// Begins a start: ends the session of other settings if one of the six decisive settings differs, and stores these settings.
    /// - Parameters:
    ///   - former: The SDK that was started before in this process.
    ///   - restore: Creates a token source with the settings of the last start. It throws for settings that can't be used any
    ///     more.
    func begin(
        with options: FROptions, after former: Former?,
        restoring restore: @escaping @Sendable (FROptions) throws -> TokenSource
    ) {
        let ends = former.map { options.endsSessions(of: $0.options) } ?? false
        let (before, isLeaving) =
            former.map { former in
                former.session.state.withLock { ($0.tail, $0.leaving > 0) }
            } ?? (nil, false)
        if ends { former?.session.close() }
        let settling: @Sendable () async -> Void = {
            await before?.value
            await self.settle(for: options, former, restore)
            self.openGate()
            await self.look(self.keeper.store)
            self.state.withLock { if ends || isLeaving { $0.leaving -= 1 } }
        }
        state.withLock { state in
            // `kept` must not block on work for a former session. Until that is done, it reports that no user is logged in.
            state.options = options
            if ends || isLeaving { state.leaving = 1 }
            state.ready = Task(executorPreference: Blocking.executor, operation: settling)
            state.tail = state.ready
        }
    }

    /// Removes the session of other settings, and then stores these settings. If the program stops in between, the next start
    /// does both again.
    private func settle(
        for options: FROptions, _ former: Former?, _ restore: @Sendable (FROptions) throws -> TokenSource
    ) async {
        var isTheSame = false
        // A former start in doubt does not know to which server the stored session belongs, so ignore its settings.
        let former = former.flatMap { former in former.session.state.withLock { $0.doubt } == nil ? former : nil }
        do {
            let document = try await slot?.get()
            let last = try former?.options ?? document.map { document throws(ConfigError) in try FROptions(document: document) }
            if let last {
                isTheSame = !options.endsSessions(of: last)
                if !isTheSame { try await end(former?.session.keeper ?? (try? restore(last))) }
            }
            if document != options.document { try await slot?.save(item: options.document) }
        } catch {
            let failure =
                error as? StoreError
                ?? StoreError(.typeMismatch, "read the last settings", "they are none: call FRAuth.shared.logout() to begin anew")
            state.withLock { state in
                state.failure = failure
                // Without a vault, no stored session exists that could be sent to the wrong server.
                if failure.code != .noVault, !isTheSame { state.doubt = failure }
            }
        }
    }

    /// The storage of the last settings; nil over the app's own store, which has none.
    private var slot: KeychainStorage<JSONValue>? {
        if case .keychain(let place, _, _) = place { place.lastOptions } else { nil }
    }

    /// Ends the doubt after the data in doubt was removed: stores the settings and opens the gate.
    private func beginAnew() async {
        do {
            if let document = state.withLock({ $0.options?.document }) { try await slot?.save(item: document) }
            state.withLock { $0.doubt = nil }
            openGate()
        } catch {
            state.withLock { $0.failure = error as? StoreError ?? $0.failure }
        }
    }

    /// Ends the session of other settings.
    /// - Parameter old: The token source with the old settings. Nil when it can't be created; the session is then not ended at a
    ///   server, because it must not be sent to this server.
    /// - Throws: The error that prevents the removal.
    private func end(_ old: TokenSource?) async throws(StoreError) {
        let leaving = await (old ?? keeper).takeOut()
        let report = Task { () -> LogOutReport? in
            if let old { await old.end(leaving, endsOpenIDSession: false) } else { TokenSource.untold(leaving) }
        }
        state.withLock { $0.former = report }
        guard leaving.isGone else {
            throw StoreError(
                .failed, "remove the session of other settings", "it cannot be removed, so nothing is done with it: try again")
        }
    }

    /// Opens the gate unless it is in doubt that the stored data belongs to this server.
    private func openGate() {
        if case .keychain(_, let gate, _) = place, state.withLock({ $0.doubt }) == nil { gate.open() }
    }

    /// Closes the session: from now on nothing is saved or sent, and no user is logged in.
    private func close() {
        if case .keychain(_, let gate, _) = place { gate.close() }
        state.withLock { state in
            state.leaving += 1
            state.isClosed = true
        }
    }
}

// MARK: Result of a journey

extension LegacySession: JourneyEndings {
    func result<T: Sendable>(of token: SSOToken, as type: T.Type) async throws -> T {
        let result: any Sendable =
            switch type {
            case is Token.Type: Token(token)
            case is AccessToken.Type: try await accessToken()
            case is FRUser.Type: try await user()
            default: throw AuthError.invalidGenericType
            }
        guard let result = result as? T else { throw AuthError.invalidGenericType }
        return result
    }

    /// Returns a valid token.
    private func accessToken() async throws -> AccessToken {
        guard client.profile.client != nil else { throw AuthError.invalidOAuth2Client }
        let token = try await run { try await $0.token() }
        return AccessToken(token, session: try await current().session)
    }

    /// Returns the user. When the app is an OAuth 2.0 client, it first gets a token.
    private func user() async throws -> FRUser {
        if client.profile.client != nil {
            _ = try await accessToken()
        } else if case .app = place {
            await look(keeper.store)
        }
        return FRUser()
    }
}
