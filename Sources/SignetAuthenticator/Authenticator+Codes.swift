public import SignetCore
import SignetStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Authenticator {
    /// Whose time a time-based code is made for.
    public enum CodeTime: Sendable, Hashable {
        /// This machine's, as everywhere.
        case device
        /// That of the account's push server where its answers have told it, otherwise this machine's: for a device whose
        /// clock is known to be wrong.
        case server
    }

    /// The code of a mechanism, now. An HOTP counter is used up, durably, before its code is returned: a code may be skipped
    /// when something fails, and is never given twice.
    /// - Throws: ``AuthenticatorError/Code/accountLocked``, ``AuthenticatorError/Code/unknownMechanism``,
    ///   ``AuthenticatorError/Code/wrongKind``, ``AuthenticatorError/Code/counterExhausted``.
    public func code(for mechanismUID: String, by time: CodeTime = .device) async throws -> OneTimeCode {
        let source = try await store.read { (records: any AccountReader) throws(StoreError) in
            try AccountRules.codeSource(mechanismUID, in: records)
        }.get()
        try await refuseIfLocked(source.account)
        guard case .counter = source.settings.factor else {
            return source.settings.code(at: try await now(by: time, for: source.account))
        }
        let reserved = try await store.write { (records: any AccountWriter) throws(StoreError) in
            try AccountRules.reserveCounter(mechanismUID, in: records)
        }
        return try reserved.get().code(at: clock.now)
    }

    /// Moves an HOTP counter forward to the one that the server expects next. It never moves back: codes would repeat.
    /// - Throws: ``AuthenticatorError/Code/counterBackwards``, ``AuthenticatorError/Code/wrongKind``,
    ///   ``AuthenticatorError/Code/accountLocked``, ``AuthenticatorError/Code/unknownMechanism``.
    @discardableResult
    public func resynchronise(_ mechanismUID: String, counter: UInt64) async throws -> Mechanism {
        let source = try await store.read { (records: any AccountReader) throws(StoreError) in
            try AccountRules.codeSource(mechanismUID, in: records)
        }.get()
        try await refuseIfLocked(source.account)
        return try await store.write { (records: any AccountWriter) throws(StoreError) in
            try AccountRules.resynchronise(mechanismUID, counter: counter, in: records)
        }.get()
    }

    private func now(by time: CodeTime, for account: Account?) async throws(StoreError) -> Date {
        guard time == .server, let id = account?.id else { return clock.now }
        let mechanisms = try await store.read { (records: any AccountReader) throws(StoreError) in try records.mechanisms(of: id)
        }
        guard let server = mechanisms.lazy.compactMap(\.push).first?.authenticationEndpoint else { return clock.now }
        return wire.clocks.clock(of: server).now
    }
}
