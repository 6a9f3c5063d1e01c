import Foundation
public import SignetCore
import SignetNetwork
import SignetStorage

extension Authenticator {
    /// The clock that determines the time of a time-based code.
    public enum CodeTime: Sendable, Hashable {
        /// This machine's clock, as other authenticators use it.
        case device
        /// The clock of the account's push server, as far as the server's responses have told it, and this machine's clock
        /// otherwise. Use it for a device whose clock is known to be wrong.
        case server
    }

    /// Generates the current code of a mechanism.
    ///
    /// For HOTP, the incremented counter is stored durably before the code is returned: a failure may skip a code, but no code is
    /// returned twice.
    /// - Throws: ``AuthenticatorError/Code/accountLocked``, ``AuthenticatorError/Code/unknownMechanism``,
    ///   ``AuthenticatorError/Code/wrongKind``, ``AuthenticatorError/Code/counterExhausted``.
    public func code(for mechanismUID: String, by time: CodeTime = .device) async throws -> OneTimeCode {
        try await code(for: mechanismUID, by: time) {}
    }

    /// Generates the current code of a mechanism like ``code(for:by:)``, unless its counter may not be used any more.
    /// - Parameters:
    ///   - mechanismUID: The ID of the mechanism.
    ///   - time: The clock of a time-based code.
    ///   - permit: Called in the transaction that uses up a counter, right before the new counter is saved. With an error the
    ///     counter stays as it was. It is not called for a time-based code.
    /// - Returns: The code.
    /// - Throws: The errors of ``code(for:by:)`` and of `permit`.
    package func code(
        for mechanismUID: String, by time: CodeTime = .device, permit: @escaping @Sendable () throws -> Void
    ) async throws -> OneTimeCode {
        let source = try await store.fetch(.codeSource(mechanismUID))
        try await refuseIfLocked(source.account)
        guard case .counter = source.settings.factor else {
            return source.settings.code(at: try await now(by: time, for: source.account))
        }
        return try await store.perform(.reserveCounter(mechanismUID, permit: permit)).settings.code(at: clock.now)
    }

    /// Moves an HOTP counter forward to the value that the server expects next.
    ///
    /// The counter never moves back, because codes would repeat.
    /// - Throws: ``AuthenticatorError/Code/counterBackwards``, ``AuthenticatorError/Code/wrongKind``,
    ///   ``AuthenticatorError/Code/accountLocked``, ``AuthenticatorError/Code/unknownMechanism``.
    @discardableResult
    public func resynchronize(_ mechanismUID: String, counter: UInt64) async throws -> Mechanism {
        try await refuseIfLocked(store.fetch(.codeSource(mechanismUID)).account)
        return try await store.perform(.resynchronize(mechanismUID, counter: counter))
    }

    private func now(by time: CodeTime, for account: Account?) async throws(StoreError) -> Date {
        guard time == .server, let id = account?.id else { return clock.now }
        let mechanisms = try await store.fetch(.mechanisms(of: id))
        guard let server = mechanisms.lazy.compactMap(\.push).first?.authenticationEndpoint else { return clock.now }
        return clocks.clock(of: server).now
    }
}
