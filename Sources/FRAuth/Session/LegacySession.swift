import SignetCore
import SignetJourney
import SignetStorage
import Synchronization

/// The session and the tokens of one started SDK.
///
/// The original's properties answer at once what is stored. They must not wait for a thread of Swift's pool, as it may be one of those
/// that they are called on: what they wait for runs on threads of its own, over a store that nobody else uses.
final class LegacySession: Sendable {
    let client: IdentityClient
    /// The same app, to look at what is stored and to remove it: no gate is in its way.
    private let keeper: TokenSource
    private let place: Place
    private let state = Mutex(State())

    /// Where things are kept.
    enum Place: Sendable {
        /// In a keychain: the gate of the store that the client has, and another store of the same items, to look at.
        case keychain(LegacyPlace, Gate, looking: SessionStore)
        /// In a store of the app's own.
        case app
    }

    /// What is stored.
    struct Kept: Sendable {
        var session: SSOToken?
        var token: SignetCore.AccessToken?
        var isEmpty: Bool { session == nil && token == nil }

        /// The token, unless it came from another session than the stored one, or from one that is stored no more: apps that share a
        /// session log one another out.
        var ownToken: SignetCore.AccessToken? {
            token.flatMap { $0.session == session.map(SessionIdentity.init) ? $0 : nil }
        }

        /// Whether nobody is logged in.
        var isNobody: Bool { session == nil && ownToken == nil }
    }

    private struct State {
        /// What was seen last, and the store's count then.
        var seen: (kept: Kept, count: Int64)?
        /// How many log-outs have not yet removed what they remove.
        var leaving = 0
        /// What was begun by starting; it needs no thread of Swift's pool unless something is leaving.
        var ready: Task<Void, Never>?
        /// What comes before anything else is done.
        var tail: Task<Void, Never>?
        var former: Task<LogOutReport?, Never>?
        var failure: StoreError?
        /// Why it is not known that what is stored may be sent to this server. Until it is removed, nothing is done with it.
        var doubt: StoreError?
        var options: FROptions?
        /// Whether the SDK was started with other settings, which end this session.
        var isClosed = false
    }

    init(_ client: IdentityClient, keeper: TokenSource, _ place: Place) {
        self.client = client
        self.keeper = keeper
        self.place = place
    }

    /// Why what is stored could not be read, the last time that it could not.
    var lastFailure: StoreError? { state.withLock { $0.failure } }

    // MARK: Looking

    /// What is stored, at once.
    var kept: Kept {
        let count = keeper.store.generation
        let (seen, isNobody) = state.withLock { ($0.seen, $0.leaving > 0) }
        if isNobody { return Kept() }
        switch place {
        // The app's storage may need the very thread that asks. What it holds is seen after each call that may have changed it.
        case .app: return seen?.kept ?? Kept()
        case .keychain(_, _, let looking):
            if let seen, seen.count == count { return seen.kept }
            return Blocking.wait {
                await self.state.withLock { $0.ready }?.value
                return await self.look(looking)
            }
        }
    }

    /// The same for who can wait.
    /// - Throws: `StoreError` when it may not be used.
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

    // MARK: Doing

    /// Waits until everything is removed that was to be removed before.
    /// - Throws: why it is not.
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

    /// Asks for something, and looks at what it has left where nothing else tells that it has changed.
    /// - Throws: what `body` throws, as the original's error.
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

    /// Logs out. What is stored is gone for everybody here when this returns, and is removed before anything else is done.
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

    /// How the session before was ended at the server: the one that the last login replaced, or the one that starting with other settings
    /// ended; nil when there was none.
    func formerReport() async -> LogOutReport? {
        await wait()
        if let replaced = client.tokens.replaced { return replaced }
        return await state.withLock { $0.former }?.value
    }
}

// MARK: Starting

extension LegacySession {
    /// What was started before.
    struct Former: Sendable {
        let session: LegacySession
        let options: FROptions
    }

    /// Begins: ends the session that other settings have left, if one of the six differs, and remembers these.
    /// - Parameters:
    ///   - former: what was started before in this process.
    ///   - restore: makes a client of the settings of the last time; it throws for those that cannot be used any more.
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
            // What waits for others is not waited for: until then nobody is logged in.
            state.options = options
            if ends || isLeaving { state.leaving = 1 }
            state.ready = Task(executorPreference: Blocking.executor, operation: settling)
            state.tail = state.ready
        }
    }

    /// Removes what other settings have left, and then remembers these: who is stopped between the two begins again.
    private func settle(
        for options: FROptions, _ former: Former?, _ restore: @Sendable (FROptions) throws -> TokenSource
    ) async {
        var isTheSame = false
        // Of what was in doubt before, the start before knows no more than this one.
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
                ?? StoreError(.otherType, "read the last settings", "they are none: call FRAuth.shared.logout() to begin anew")
            state.withLock { state in
                state.failure = failure
                // Where there is no vault there is nothing that could be sent to the wrong server.
                if failure.code != .noVault, !isTheSame { state.doubt = failure }
            }
        }
    }

    /// Where the settings are remembered; nil where they are not.
    private var slot: KeychainStorage<JSONValue>? {
        if case .keychain(let place, _, _) = place { place.lastOptions } else { nil }
    }

    /// What was in doubt is removed: from here on everything is of these settings.
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
    /// - Parameter old: the app as it was; nil when that cannot be made any more, so that no server can be told: its session must not go
    ///   to this one.
    /// - Throws: why it is still stored.
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

    /// What is stored is this server's, unless that is not known.
    private func openGate() {
        if case .keychain(_, let gate, _) = place, state.withLock({ $0.doubt }) == nil { gate.open() }
    }

    /// From now on nothing is saved or sent, and nobody is logged in.
    private func close() {
        if case .keychain(_, let gate, _) = place { gate.close() }
        state.withLock { state in
            state.leaving += 1
            state.isClosed = true
        }
    }
}

// MARK: What a journey ends with

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

    /// A token that is good.
    private func accessToken() async throws -> AccessToken {
        guard client.profile.client != nil else { throw AuthError.invalidOAuth2Client }
        let token = try await run { try await $0.token() }
        return AccessToken(token, session: try await current().session)
    }

    /// Who is logged in, with tokens where the app is a client.
    private func user() async throws -> FRUser {
        if client.profile.client != nil {
            _ = try await accessToken()
        } else if case .app = place {
            await look(keeper.store)
        }
        return FRUser()
    }
}
