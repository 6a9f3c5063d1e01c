import SignetCore
import SignetStorage

/// The end of a login whose refresh was refused.
///
/// The record of the refusal replaces the tokens before any other request is sent. A program that is killed meanwhile therefore
/// finds it at its next start, and revokes the refused grant then.
extension TokenSource {
    /// Stores the record that replaces the tokens.
    ///
    /// The caller holds the lock.
    /// - Throws: `StoreError` when the record can't be stored. The refused grant was then revoked if possible, because it isn't
    ///   stored either.
    func end(_ old: AccessToken, by response: RefusedResponse) async throws -> AccessToken {
        let record = old.replaced(by: response.refusal)
        forget()
        do {
            try await store.save(record)
        } catch {
            try? await server.revoke(record)
            throw error
        }
        return record
    }

    /// Revokes the refused grant if that isn't done yet, and returns the error to report.
    ///
    /// When the revocation fails, the grant stays in the record. The next call, logout or login tries again.
    func requiredLogin(after record: AccessToken) async -> TokenError {
        try? await revokeRefusedGrant(of: record)
        return TokenError(.loginRequired, record.refusal?.cause)
    }

    /// Revokes the refused grant of a record, and removes it from the record.
    func revokeRefusedGrant(of record: AccessToken) async throws {
        guard record.refusal?.grant != nil else { return }
        do {
            try await server.revoke(record)
        } catch let error as OAuthError where error.code == .notOffered {
            // A server without that endpoint can't revoke tokens.
        }
        try await store.withLock {
            guard try await store.record() == record else { return }
            var updated = record
            updated.refusal?.grant = nil
            try await store.save(updated)
        }
    }

    /// Removes the tokens of a grant that the server has ended, and returns new ones for the session.
    func replaced(ended old: AccessToken, by error: OAuthError, session: SSOToken?) async throws -> AccessToken {
        try await discardToken()
        let new = await Result(of: {
            guard session != nil else { throw TokenError(.loginRequired, .server(error)) }
            return try await authorized(session, replacing: nil, isRejected: false)
        })
        // The refresh token of the grant was used, and is not sent again.
        let rest = AccessToken(value: old.value, tokenType: old.tokenType, issuedAt: old.issuedAt, expiresAt: old.expiresAt)
        retire(rest, replacedBy: try? new.get())
        return try new.get()
    }
}

/// A session whose ID token was refused because it doesn't confirm the authentication that the client requested with `max_age` or
/// `acr_values`.
///
/// The same session gives the same ID token again, so a request for it would only issue more tokens to revoke.
struct UnconfirmedAuthentication: Sendable {
    /// The error to report.
    let failure: TokenError
    /// The `generation` of the store at the refusal.
    ///
    /// A login changes it.
    let generation: Int64
}

extension TokenSource {
    /// The error for a session whose ID token was refused, while nothing was stored or removed since; nil when none was refused.
    var unconfirmedAuthentication: TokenError? {
        let generation = store.generation
        return unconfirmed.withLock { $0.flatMap { $0.generation == generation ? $0.failure : nil } }
    }

    /// Notes the refusal of the session's ID token, and returns the error to report: the user can log in as the client requested.
    func requiringInteraction(after refusal: TokenError) -> TokenError {
        let failure = TokenError(.interactionRequired, refusal.cause)
        let generation = store.generation
        unconfirmed.withLock { $0 = UnconfirmedAuthentication(failure: failure, generation: generation) }
        return failure
    }
}

extension TokenError {
    /// True when an ID token doesn't confirm the authentication that the client requested.
    var isOfUnconfirmedAuthentication: Bool {
        guard case .idToken(let error) = cause else { return false }
        return error.code == .authenticationTime || error.code == .authenticationContext
    }
}

extension RefusedRefresh {
    /// The cause to report.
    fileprivate var cause: TokenError.Cause {
        let codes: [OAuthError.Code] = [.repeatedMember, .unusableToken]
        if let code = codes.first(where: { $0.rawValue == reason }) { return .server(OAuthError(code)) }
        return .idToken(IDTokenError(IDTokenError.Code(rawValue: reason)))
    }
}
