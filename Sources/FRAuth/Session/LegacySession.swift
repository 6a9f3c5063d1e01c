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
    }

    init(_ client: IdentityClient, _ place: Place) {
        self.client = client
        self.place = place
    }

    /// Why what is stored could not be read, the last time that it could not.
    var lastFailure: StoreError? { state.withLock { $0.failure } }

    // MARK: Looking

    /// What is stored, at once.
    var kept: Kept {
        let count = client.tokens.store.count
        let (seen, isLeaving) = state.withLock { ($0.seen, $0.leaving > 0) }
        if isLeaving { return Kept() }
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
    func current() async -> Kept {
        await settle()
        return await look(client.tokens.store)
    }

    @discardableResult
    private func look(_ store: SessionStore) async -> Kept {
        let count = store.count
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
    func settle() async {
        while let tail = state.withLock({ $0.tail }) {
            await tail.value
            if state.withLock({ $0.tail == tail }) { return }
        }
    }

    /// Asks for something, and looks at what it has left.
    /// - Throws: what `body` throws, as the original's error.
    func run<Value>(_ body: (TokenSource) async throws -> Value) async throws -> Value {
        await settle()
        do {
            let value = try await body(client.tokens)
            await look(client.tokens.store)
            return value
        } catch {
            await look(client.tokens.store)
            throw LegacyErrors.error(error)
        }
    }

    /// Logs out. What is stored is gone for everybody here when this returns, and is removed before anything else is done.
    func logOut(endsOpenIDSession: Bool) -> Task<LogOutReport, Never> {
        let tokens = client.tokens
        let taking = state.withLock { state in
            state.leaving += 1
            state.seen = nil
            let before = state.tail
            let taking = Task {
                await before?.value
                let leaving = await tokens.takeOut()
                await self.look(tokens.store)
                self.state.withLock { $0.leaving -= 1 }
                return leaving
            }
            state.tail = Task { _ = await taking.value }
            return taking
        }
        return Task { await tokens.end(await taking.value, endsOpenIDSession: endsOpenIDSession) }
    }

    /// What became at the server of the session that was ended by starting with other settings; nil when none was.
    func formerReport() async -> LogOutReport? {
        await settle()
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
        restoring restore: @escaping @Sendable (FROptions) throws -> IdentityClient
    ) {
        let ends = former.map { options.endsSessions(of: $0.options) } ?? false
        let (before, isLeaving) =
            former.map { former in
                former.session.state.withLock { ($0.tail, $0.leaving > 0) }
            } ?? (nil, false)
        if ends { former?.session.close() }
        let settling: @Sendable () async -> Void = {
            await before?.value
            if let old = await self.old(than: options, former, restore) {
                let leaving = await old.tokens.takeOut()
                // The server is told while the app goes on.
                let report = Task { Optional(await old.tokens.end(leaving, endsOpenIDSession: false)) }
                self.state.withLock { $0.former = report }
            }
            await self.look(self.client.tokens.store)
            self.state.withLock { if ends || isLeaving { $0.leaving -= 1 } }
        }
        state.withLock { state in
            // What waits for others is not waited for: until then nothing is there.
            if ends || isLeaving { state.leaving = 1 }
            state.ready = Task(executorPreference: Blocking.executor, operation: settling)
            state.tail = state.ready
        }
    }

    /// The client whose session is to be ended; nil when it stays.
    private func old(
        than options: FROptions, _ former: Former?, _ restore: @Sendable (FROptions) throws -> IdentityClient
    ) async -> IdentityClient? {
        guard case .keychain(let place, _, _) = place else {
            return former.flatMap { options.endsSessions(of: $0.options) ? $0.session.client : nil }
        }
        let last = await remember(options, at: place)
        if let former { return options.endsSessions(of: former.options) ? former.session.client : nil }
        guard let last, options.endsSessions(of: last) else { return nil }
        // What cannot be used any more can still be removed.
        return (try? restore(last)) ?? client
    }

    /// Keeps the settings for the next start.
    /// - Returns: those of the start before.
    private func remember(_ options: FROptions, at place: LegacyPlace) async -> FROptions? {
        do {
            let last = try await place.lastOptions.get().map { try FROptions(document: $0) }
            if last?.document != options.document { try await place.lastOptions.save(item: options.document) }
            return last
        } catch {
            state.withLock {
                $0.failure =
                    error as? StoreError
                    ?? StoreError(.otherType, "read the last settings", "they are none; they were left as they are")
            }
            return nil
        }
    }

    /// From now on nothing is saved, and nobody is logged in.
    private func close() {
        if case .keychain(_, let gate, _) = place { gate.close() }
        state.withLock { $0.leaving += 1 }
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
        return AccessToken(token, session: await current().session)
    }

    /// Who is logged in, with tokens where the app is a client.
    private func user() async throws -> FRUser {
        if client.profile.client != nil { _ = try await accessToken() } else { await look(client.tokens.store) }
        return FRUser()
    }
}
