public import SignetCore
import SignetNetwork
public import SignetStorage

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// What became of telling one mechanism's server the device's new token.
public struct DeviceTokenUpdate: Sendable {
    /// What became of it.
    public enum Outcome: Sendable {
        /// The server has it.
        case done
        /// The server had it before; it was not asked.
        case unchanged
        /// The server has no way to be told, or its platform is not known here. The mechanism stays. A server that said so is not
        /// asked again before the token changes, and each call says so again.
        case notSupported(AuthenticatorError)
        /// The server said no. It is tried again by the next call.
        case refused(AuthenticatorError)
        /// The server could not be reached, or is out of order. It is tried again by the next call.
        case retryable(any Error)
    }

    /// Whose server it is.
    public let mechanism: Mechanism
    /// What became of it.
    public let outcome: Outcome

    /// Whether the server is still to be told.
    public var isOutstanding: Bool {
        switch outcome {
        case .done, .unchanged: false
        // An app that brings the platform later can tell it.
        case .notSupported(let error): error.code == .unknownPlatform
        case .refused, .retryable: true
        }
    }
}

extension Authenticator {
    /// The token under which servers were last told to find this device; nil before the first ``updateDeviceToken(_:only:)``.
    public func deviceToken() async throws(StoreError) -> StoredDeviceToken? {
        try await store.read { (records: any AccountReader) throws(StoreError) in try records.deviceToken() }
    }

    /// Forgets the device's token. Servers are told nothing.
    public func clearDeviceToken() async throws(StoreError) {
        try await store.write { (records: any AccountWriter) throws(StoreError) in try records.removeDeviceToken() }
    }

    /// Stores the device's new token, and tells the servers of all push mechanisms, also those of locked accounts, several at
    /// once. A token that is stored already is told only to those that could not be told before.
    ///
    /// Returns what became of each push mechanism, the oldest first. Who could not be told is remembered, durably, and tried
    /// again by the next call with the same token, and by nothing else.
    /// - Parameters:
    ///   - token: The token.
    ///   - mechanismUID: The only mechanism whose server to tell now, if there is one; the others stay to be told.
    /// - Throws: `StoreError`. If it comes before a request nothing has changed; if after, the next call tells again.
    public func updateDeviceToken(
        _ token: String, only mechanismUID: String? = nil
    ) async throws -> [DeviceTokenUpdate] {
        let now = clock.now
        // First stored, then told: what is not known to be told is told again.
        let (mechanisms, stored) = try await store.write { (records: any AccountWriter) throws(StoreError) in
            try AccountRules.setDeviceToken(token, now: now, in: records)
        }
        let concerned = mechanisms.filter { mechanismUID == nil || $0.uid == mechanismUID }
        let updates = await tell(device.called(token), concerned, stored)
        let settled = updates.filter { !$0.isOutstanding && stored.outstanding.contains($0.mechanism.uid) }
        if !settled.isEmpty {
            try await store.write { (records: any AccountWriter) throws(StoreError) in
                try AccountRules.settleDeviceToken(token, settled, in: records)
            }
        }
        return updates
    }

    /// How many servers are told at once.
    private static let mostAtOnce = 8

    private func tell(
        _ device: PushDevice, _ mechanisms: [Mechanism], _ stored: StoredDeviceToken
    ) async -> [DeviceTokenUpdate] {
        await withTaskGroup(of: (Int, DeviceTokenUpdate).self) { group in
            var results: [(Int, DeviceTokenUpdate)] = []
            for (place, mechanism) in mechanisms.enumerated() {
                if place >= Self.mostAtOnce, let result = await group.next() { results.append(result) }
                group.addTask {
                    let outcome: DeviceTokenUpdate.Outcome =
                        if stored.outstanding.contains(mechanism.uid) {
                            await tell(device, mechanism)
                        } else if stored.unsupported.contains(mechanism.uid) {
                            .notSupported(.tokenNotTaken(mechanism))
                        } else {
                            .unchanged
                        }
                    return (place, DeviceTokenUpdate(mechanism: mechanism, outcome: outcome))
                }
            }
            for await result in group { results.append(result) }
            return results.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private func tell(_ device: PushDevice, _ mechanism: Mechanism) async -> DeviceTokenUpdate.Outcome {
        // Its server was told the address of a mailbox, which stays.
        guard mechanism.push?.gatewayEndpoint == nil else { return .unchanged }
        do {
            let platform = try platforms.named(mechanism.push?.platform)
            try await NotSent.unwrapped { try await platform.update(device, of: mechanism, over: wire) }
            return .done
        } catch let error as AuthenticatorError {
            switch error.code {
            case .notSupported, .unknownPlatform: return .notSupported(error)
            case .serverMisbehaved: return .retryable(error)
            default: return .refused(error)
            }
        } catch {
            return .retryable(error)
        }
    }
}

extension AccountRules {
    /// Stores a token, with every push mechanism to be told if it is new. Returns the push mechanisms, and the token with who is
    /// to be told.
    package static func setDeviceToken(
        _ token: String, now: Date, in records: any AccountWriter
    ) throws(StoreError) -> (mechanisms: [Mechanism], stored: StoredDeviceToken) {
        let stored = try records.deviceToken()
        let mechanisms = try records.mechanisms().filter { $0.push != nil }
        if let stored, stored.token == token { return (mechanisms, stored) }
        let new = StoredDeviceToken(token: token, timeAdded: now, outstanding: Set(mechanisms.map(\.uid)))
        try records.save(new)
        return (mechanisms, new)
    }

    /// Notes who has been told, and who cannot be. If the token has changed meanwhile, that was another token.
    static func settleDeviceToken(
        _ token: String, _ settled: [DeviceTokenUpdate], in records: any AccountWriter
    ) throws(StoreError) {
        guard var stored = try records.deviceToken(), stored.token == token else { return }
        for update in settled {
            stored.outstanding.remove(update.mechanism.uid)
            if case .notSupported = update.outcome { stored.unsupported.insert(update.mechanism.uid) }
        }
        try records.save(stored)
    }

    /// Notes that a server was told `token` when the mechanism was registered: it is told again if that has changed since.
    static func noteTold(_ uid: String, _ token: String?, in records: any AccountWriter) throws(StoreError) {
        guard var stored = try records.deviceToken() else { return }
        let before = stored
        stored.unsupported.remove(uid)
        if stored.token == token { stored.outstanding.remove(uid) } else { stored.outstanding.insert(uid) }
        if stored != before { try records.save(stored) }
    }

    /// Has the server of a push mechanism that came from elsewhere be told of the token by the next update: it knows another
    /// device's, if any.
    package static func noteUntold(_ mechanism: Mechanism, in records: any AccountWriter) throws(StoreError) {
        guard mechanism.push != nil, var stored = try records.deviceToken() else { return }
        stored.outstanding.insert(mechanism.uid)
        stored.unsupported.remove(mechanism.uid)
        try records.save(stored)
    }
}
