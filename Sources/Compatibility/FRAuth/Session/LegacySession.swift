import SignetCore
import SignetJourney
import SignetOAuth
import SignetStorage

/// The session and the tokens of one started SDK.
///
/// The properties of the ForgeRock SDK's interface return stored data synchronously. They must not wait for a thread of Swift's
/// pool, because they may block one of those threads themselves. The work that they wait for therefore runs on separate threads
/// and uses no storage that another task uses.
final class LegacySession: Sendable {
    let options: FRSettings
    let client: IdentityClient
    /// The permission to use the stored data, which the client's store checks.
    ///
    /// A start with other settings that end this session revokes it; a start with any other settings takes it over.
    let lease: SessionLease
    /// The items in the keychain; nil over the app's own store.
    private let items: KeychainItems?
    private let state = Mutex(State())

    private struct State {
        /// The data that was read last, and the store's generation at that time.
        var read: (contents: StoredSession, generation: Int64)?
        /// The number of queued removals.
        ///
        /// Until they are complete, no user is logged in.
        var removals = 0
        /// The last task in the queue of starts and logouts.
        ///
        /// All other work waits for it.
        var last: Task<Void, Never>?
        var former: Task<LogOutReport?, Never>?
        /// Reads what the ForgeRock SDK has stored; nil when it is not to be taken over.
        var legacy: (@Sendable () throws(StoreError) -> LegacyTokens)?
        var failure: StoreError?
        /// The reason for which it is unknown if the stored data may be sent to this server.
        ///
        /// The data is not used until it is removed.
        var settingsError: StoreError?
    }

    init(_ options: FRSettings, _ client: IdentityClient, _ lease: SessionLease, _ items: KeychainItems?) {
        self.options = options
        self.client = client
        self.lease = lease
        self.items = items
    }

    private var store: SessionStore { client.tokens.store }

    /// The last error from reading or writing stored data.
    var lastFailure: StoreError? { state.withLock { $0.failure } }

    // MARK: Reading

    /// The stored data, read synchronously.
    ///
    /// It is empty when the data can't be read. The app's own store may need the thread that calls, so the data that was read
    /// last stands for it.
    var contents: StoredSession {
        let (known, last) = state.withLock { state -> (StoredSession?, Task<Void, Never>?) in
            if lease.isRevoked || state.removals > 0 { return (StoredSession(), nil) }
            return (items == nil ? state.read?.contents ?? StoredSession() : upToDate(state), state.last)
        }
        if let known { return known }
        return Blocking.wait {
            await last?.value
            return (try? await self.load()) ?? StoredSession()
        }
    }

    /// Returns the stored data.
    /// - Throws: `StoreError` when the data can't be read or may not be used.
    func current() async throws(StoreError) -> StoredSession {
        try await ready()
        return if let known = state.withLock({ upToDate($0) }) { known } else { try await load() }
    }

    /// The data that was read last if nothing has changed since.
    ///
    /// The app's own store does not report all changes.
    private func upToDate(_ state: State) -> StoredSession? {
        guard items != nil, let read = state.read, read.generation == store.generation else { return nil }
        return read.contents
    }

    @discardableResult
    private func load() async throws(StoreError) -> StoredSession {
        try lease.check()
        if let settingsError = state.withLock({ $0.settingsError }) { throw settingsError }
        let generation = store.generation
        do {
            let contents = if let items { try await items.contents() } else { try await store.contents() }
            state.withLock { $0.read = (contents, generation) }
            return contents
        } catch {
            throw record(error, "read the session")
        }
    }

    /// Keeps an error for ``lastFailure``, and returns it.
    ///
    /// The error of an app's storage may contain the data, so only its type is reported.
    private func record(_ error: any Error, _ operation: String) -> StoreError {
        let failure = error as? StoreError ?? StoreError(.failed, operation, "\(type(of: error))")
        state.withLock { $0.failure = failure }
        return failure
    }

    /// True when an attempt to get a token failed with ``AuthError/userAuthenticationRequired``, and nothing was stored or removed
    /// since.
    ///
    /// A login must then be possible, although a session or a token is stored, and also when a stored token is returned again.
    var requiresLogin: Bool { client.tokens.requiresLogin }

    // MARK: Operations

    /// Waits until the starts and logouts that began before are complete.
    func finish() async {
        while let last = state.withLock({ $0.last }) {
            await last.value
            if state.withLock({ $0.last == last }) { return }
        }
    }

    /// Waits until the stored data may be used.
    /// - Throws: The error that prevents its use.
    func ready() async throws(StoreError) {
        await finish()
        try lease.check()
        if let settingsError = state.withLock({ $0.settingsError }) { throw settingsError }
    }

    /// Runs work with the tokens, and then reads the stored data if it may have changed.
    /// - Throws: The error of `body`, converted to the ForgeRock SDK's error.
    func run<Value: Sendable>(_ body: (TokenSource) async throws -> Value) async throws -> Value {
        try await ready()
        let result = await Swift.Result(of: { try await body(client.tokens) })
        _ = try? await current()
        do { return try result.get() } catch { throw LegacyErrors.error(error) }
    }

    /// Logs out.
    ///
    /// When this method returns, this process treats the stored data as removed. The removal precedes all later work. The logout
    /// fails on this machine when the next start could still take over what the ForgeRock SDK has stored.
    func logOut(endsOpenIDSession: Bool) -> Task<LogOutReport, Never> {
        let tokens = client.tokens
        let removal = enqueue(removesData: true) {
            let isOwn = self.state.withLock { $0.settingsError == nil }
            // If the program stops after the removal, the next start must not take over again what was removed.
            var failure = await self.settingsFailure { try await self.items?.endTakeOver() }
            let removed = await tokens.removeAll()
            if !isOwn, removed.isGone { failure = await self.settingsFailure { try await self.replaceSettings() } }
            return (removed, isOwn, failure)
        }
        return Task {
            guard let (removed, isOwn, failure) = await removal?.value else { return .nothing }
            let report = isOwn ? await tokens.end(removed, endsOpenIDSession: endsOpenIDSession) : removed.reportWithoutServer
            return failure.map { report.failing(with: $0) } ?? report
        }
    }

    /// Runs a change of the stored settings, and returns its error; nil when it succeeded.
    private func settingsFailure(of change: () async throws -> Void) async -> StoreError? {
        do {
            try await change()
            return nil
        } catch {
            return record(error, "save the settings")
        }
    }

    /// Replaces the settings of an unknown server after the removal of its data, so that new data can be used.
    private func replaceSettings() async throws {
        try await items?.save(options.document, under: lease)
        state.withLock { $0.settingsError = nil }
    }

    /// Appends work to the queue.
    ///
    /// Returns nil when the lease was revoked.
    private func enqueue<Value: Sendable>(
        after former: Task<Void, Never>? = nil, removesData: Bool, _ work: @escaping @Sendable () async -> Value
    ) -> Task<Value, Never>? {
        state.withLock { state in
            guard !lease.isRevoked else { return nil }
            // What was read before must not come back if the read after the removal fails.
            if removesData { (state.removals, state.read) = (state.removals + 1, nil) }
            let previous = former ?? state.last
            let task = Task(executorPreference: Blocking.executor) {
                await previous?.value
                let value = await work()
                _ = try? await self.load()
                if removesData { self.state.withLock { $0.removals -= 1 } }
                return value
            }
            state.last = Task(executorPreference: Blocking.executor) { _ = await task.value }
            return task
        }
    }

    /// Returns the report about the end of the former session at the server: the session that the last login replaced, or the
    /// session that ended because the SDK was started with other settings.
    ///
    /// Nil when no session was ended.
    func formerReport() async -> LogOutReport? {
        await finish()
        if let replaced = client.tokens.replaced { return replaced }
        return await state.withLock { $0.former }?.value
    }
}

// MARK: Starting

extension LegacySession {
    /// Begins a start: ends the session of other settings if one of the six decisive settings differs, and stores these settings.
    /// - Parameters:
    ///   - former: The session of the SDK that was started before in this process.
    ///   - restore: Creates the session of the last start's settings. It throws for settings that can't be used any more.
    func begin(after former: LegacySession?, restoring restore: @escaping @Sendable (FRSettings) throws -> LegacySession) {
        let (last, isRemoving) = former?.replaced(endsSession: former?.lease !== lease) ?? (nil, false)
        // A property must not block on the work of a former session. Until that is done, it reports that no user is logged in.
        _ = enqueue(after: last, removesData: isRemoving) { await self.takeOver(from: former, restore) }
    }

    /// Returns the last task of this session's queue, and whether a removal is queued, for the session that replaces it.
    ///
    /// From now on, a session that ends saves and sends nothing.
    private func replaced(endsSession: Bool) -> (last: Task<Void, Never>?, isRemoving: Bool) {
        state.withLock { state in
            if endsSession { lease.revoke() }
            return (state.last, endsSession || state.removals > 0)
        }
    }

    /// Removes the session of other settings, and then stores these settings.
    ///
    /// If the program stops in between, the next start does both again.
    private func takeOver(from former: LegacySession?, _ restore: @Sendable (FRSettings) throws -> LegacySession) async {
        // A former start with a settings error does not know to which server the stored session belongs, so ignore its settings.
        let former = former.flatMap { former in former.state.withLock { $0.settingsError } == nil ? former : nil }
        var isOwn = false
        do {
            let document = try await items?.lastOptions.get()
            let last = try former?.options ?? document.map { document throws(ConfigError) in try FRSettings(document: document) }
            if let last {
                isOwn = !options.endsSessions(of: last)
                if !isOwn {
                    // If the program stops after the removal, the next start must not take over again what was removed.
                    try await items?.endTakeOver()
                    try await end(former ?? (try? restore(last)))
                }
            }
            // A mark of other settings concerns the session that has just ended.
            let isPending = document.map { isOwn && KeychainItems.isTakeOverPending($0) } ?? (former == nil)
            if isPending, let legacy = try await legacyTokens(), !legacy.isEmpty {
                // The settings come first: a session that belongs to no settings could be sent to another server. If this fails
                // afterward, or the process ends, the next start continues.
                try await items?.save(options.document, isTakeOverPending: true, under: lease)
                isOwn = true
                try await items?.takeOver(legacy, under: lease)
            }
            if document != options.document { try await items?.save(options.document, under: lease) }
        } catch {
            let failure =
                error as? StoreError
                ?? StoreError(
                    .typeMismatch, "read the last settings", "they cannot be decoded: call FRAuth.shared.logout() to begin anew")
            state.withLock { state in
                state.failure = failure
                // Without a vault, no stored session exists that could be sent to the wrong server.
                if ![.noVault, .protectionTooWeak].contains(failure.code), !isOwn { state.settingsError = failure }
            }
        }
    }

    /// Lets the first start, or the next one after a failure, take over what the ForgeRock SDK has stored for the same app and server.
    ///
    /// Call it before ``begin(after:restoring:)``.
    func takeOver(from source: any LegacyStore, of owner: LegacyTokens.Owner, clock: any WallClock) {
        state.withLock { state in
            state.legacy = { () throws(StoreError) in try LegacyTokens(in: source, of: owner, now: clock.now) }
        }
    }

    /// Returns what the ForgeRock SDK has stored; nil when it is not to be taken over.
    private func legacyTokens() async throws(StoreError) -> LegacyTokens? {
        guard let legacy = state.withLock({ $0.legacy }) else { return nil }
        return try await Blocking.run(legacy)
    }

    /// Ends the session of other settings.
    /// - Parameter old: That session. Nil when its settings can't be used any more; it is then not ended at a server, because it
    ///   must not be sent to this server.
    /// - Throws: The error that prevents the removal.
    private func end(_ old: LegacySession?) async throws(StoreError) {
        let removed = await (old ?? self).client.tokens.removeAll()
        let report = Task { () -> LogOutReport? in
            await old?.client.tokens.end(removed, endsOpenIDSession: false) ?? removed.reportWithoutServer
        }
        state.withLock { $0.former = report }
        guard removed.isGone else {
            throw StoreError(
                .failed, "remove the session of other settings", "it cannot be removed, so nothing is done with it: try again")
        }
    }
}

// MARK: Result of a journey

extension LegacySession {
    /// Converts the session that a journey ends with to the requested type.
    /// - Throws: ``AuthError/invalidGenericType`` for a type that a journey does not end with;
    ///   ``AuthError/userAuthenticationRequired`` when an empty session was to become a user or an access token. What was stored
    ///   before stays, and ``requiresLogin`` is then true.
    func result<T: Sendable>(of token: SSOToken, as type: T.Type) async throws -> T {
        _ = try? await current()
        let result: any Sendable =
            switch type {
            case is Token.Type: Token(token)
            case is AccessToken.Type: try await accessToken(for: token)
            case is FRUser.Type: try await user(for: token)
            default: throw AuthError.invalidGenericType
            }
        guard let result = result as? T else { throw AuthError.invalidGenericType }
        return result
    }

    /// Returns a valid token for the session that a journey has stored.
    ///
    /// An empty session is never stored. The stored one may then belong to another user, so its token isn't the journey's result.
    private func accessToken(for delivered: SSOToken) async throws -> AccessToken {
        guard client.profile.client != nil else { throw AuthError.invalidOAuth2Client }
        guard delivered.value.count > 0 else {
            client.tokens.requireLogin()
            throw AuthError.userAuthenticationRequired
        }
        let token = try await run { try await $0.token() }
        return AccessToken(token, session: try await current().session)
    }

    /// Returns the user.
    ///
    /// It first gets a token. The session stays stored when the app is not an OAuth 2.0 client, which is an error here.
    private func user(for delivered: SSOToken) async throws -> FRUser {
        _ = try await accessToken(for: delivered)
        return FRUser()
    }
}
