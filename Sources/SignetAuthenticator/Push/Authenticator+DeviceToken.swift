package import Foundation
public import SignetCore
import SignetNetwork
public import SignetStorage

/// The outcome of sending the device's new token to one mechanism's server.
public struct DeviceTokenUpdate: Sendable {
    /// The outcome of one token update.
    public enum Outcome: Sendable {
        /// The server has accepted the token.
        case done
        /// No request was necessary: the server already has the token, or it sends to an inbox at a push gateway, whose address
        /// stays.
        case unchanged
        /// The server doesn't support token updates, or its platform is unknown here. The mechanism stays. A server that has
        /// responded so is not asked again until the token changes; each call reports this outcome again.
        case notSupported(AuthenticatorError)
        /// The server has rejected the token. The next call tries again.
        case refused(AuthenticatorError)
        /// The server could not be reached or has failed. The next call tries again.
        case retryable(any Error)
    }

    /// The mechanism whose server was to be told.
    public let mechanism: Mechanism
    /// The outcome of the update.
    public let outcome: Outcome

    /// True when the server has yet to be told.
    public var isOutstanding: Bool {
        switch outcome {
        case .done, .unchanged: false
        // An app that adds the platform later can tell the server.
        case .notSupported(let error): error.code == .unknownPlatform
        case .refused, .retryable: true
        }
    }
}

extension Authenticator {
    /// Returns the stored device token; nil before the first ``updateDeviceToken(_:only:)``.
    public func deviceToken() async throws(StoreError) -> StoredDeviceToken? {
        try await store.fetch(.deviceToken())
    }

    /// Removes the stored device token.
    ///
    /// No request is sent.
    public func clearDeviceToken() async throws(StoreError) {
        try await store.perform(.removeDeviceToken())
    }

    /// Stores the device's new token and sends it to the servers of all push mechanisms, including those of locked accounts,
    /// several at a time.
    ///
    /// A token that is already stored is sent only to the servers that don't have it yet.
    ///
    /// A server that could not be told is remembered durably. Only a further call of this method, which may pass the same token,
    /// tries it again.
    /// - Parameters:
    ///   - token: The new token.
    ///   - mechanismUID: The only mechanism whose server is told now, or nil for all. The other servers stay to be told.
    /// - Returns: The outcome for each push mechanism in question, oldest first.
    /// - Throws: `StoreError`. When the token could not be stored, no request was sent and nothing has changed. When the outcomes
    ///   could not be stored, the next call sends the token again.
    public func updateDeviceToken(
        _ token: String, only mechanismUID: String? = nil
    ) async throws -> [DeviceTokenUpdate] {
        // The token is stored before it is sent. A server without a stored outcome is told again.
        let (mechanisms, stored) = try await store.perform(.setDeviceToken(token, now: clock.now))
        return try await send(stored, to: mechanisms.filter { mechanismUID == nil || $0.uid == mechanismUID })
    }

    /// Sends a stored token to the servers that don't have it yet, and does nothing when it was replaced or removed.
    package func sendDeviceToken(ifStored token: String) async throws -> [DeviceTokenUpdate] {
        guard let (mechanisms, stored) = try await store.fetch(.deviceToken(ifStored: token)) else { return [] }
        return try await send(stored, to: mechanisms)
    }

    /// Sends a stored token, and stores the outcomes.
    private func send(_ stored: StoredDeviceToken, to mechanisms: [Mechanism]) async throws -> [DeviceTokenUpdate] {
        let updates = await notify(device.called(stored.token), mechanisms, stored)
        let finished = updates.filter { !$0.isOutstanding && stored.outstanding.contains($0.mechanism.uid) }
        if !finished.isEmpty || stored.isUnsent {
            try await store.perform(.recordTokenUpdates(stored, finished))
        }
        return updates
    }

    /// The maximum number of concurrent requests.
    private static let maxConcurrentRequests = 8

    private func notify(
        _ device: PushDevice, _ mechanisms: [Mechanism], _ stored: StoredDeviceToken
    ) async -> [DeviceTokenUpdate] {
        await withTaskGroup(of: (Int, DeviceTokenUpdate).self) { group in
            var results: [(Int, DeviceTokenUpdate)] = []
            for (index, mechanism) in mechanisms.enumerated() {
                if index >= Self.maxConcurrentRequests, let result = await group.next() { results.append(result) }
                group.addTask {
                    let outcome: DeviceTokenUpdate.Outcome =
                        if stored.outstanding.contains(mechanism.uid) {
                            await notify(device, mechanism)
                        } else if stored.unsupported.contains(mechanism.uid) {
                            .notSupported(.tokenNotTaken(mechanism))
                        } else {
                            .unchanged
                        }
                    return (index, DeviceTokenUpdate(mechanism: mechanism, outcome: outcome))
                }
            }
            for await result in group { results.append(result) }
            return results.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private func notify(_ device: PushDevice, _ mechanism: Mechanism) async -> DeviceTokenUpdate.Outcome {
        // The server was given the address of an inbox, which stays the same.
        guard mechanism.push?.gatewayEndpoint == nil else { return .unchanged }
        do {
            let platform = try platforms.named(mechanism.push?.platform)
            try await NotSent.unwrapped { try await platform.update(device, of: mechanism, over: pushTransport) }
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

extension AccountQuery where Value == StoredDeviceToken?, Failure == StoreError {
    /// Returns the device token that was set last.
    package static func deviceToken() -> Self { Self { records throws(StoreError) in try records.deviceToken() } }
}

extension AccountQuery where Value == (mechanisms: [Mechanism], stored: StoredDeviceToken)?, Failure == StoreError {
    /// Returns the push mechanisms, and the stored token with the mechanisms whose servers are yet to be told; nil when `token` is not
    /// the stored one.
    static func deviceToken(ifStored token: String) -> Self {
        Self { records throws(StoreError) in try records.deviceToken(ifStored: token) }
    }
}

extension AccountReader {
    fileprivate func deviceToken(
        ifStored token: String
    ) throws(StoreError) -> (mechanisms: [Mechanism], stored: StoredDeviceToken)? {
        guard var stored = try deviceToken(), stored.token == token else { return nil }
        let mechanisms = try pushMechanisms()
        if stored.isUnsent { stored.outstanding = Set(mechanisms.map(\.uid)) }
        return (mechanisms, stored)
    }

    fileprivate func pushMechanisms() throws(StoreError) -> [Mechanism] { try mechanisms().filter { $0.push != nil } }
}

extension AccountOperation where Failure == StoreError {
    /// Stores a token.
    ///
    /// If the token is new, the servers of all push mechanisms are marked as yet to be told.
    /// - Returns: The push mechanisms, and the stored token with the mechanisms whose servers are yet to be told.
    package static func setDeviceToken(
        _ token: String, now: Date
    ) -> Self where Value == (mechanisms: [Mechanism], stored: StoredDeviceToken) {
        Self { records throws(StoreError) in
            if let stored = try records.deviceToken(ifStored: token) { return stored }
            let mechanisms = try records.pushMechanisms()
            let new = StoredDeviceToken(token: token, timeAdded: now, outstanding: Set(mechanisms.map(\.uid)))
            try records.save(new)
            return (mechanisms, new)
        }
    }

    /// Records which servers have been told and which don't support token updates.
    ///
    /// Does nothing when the stored token is another one by now.
    static func recordTokenUpdates(
        _ sent: StoredDeviceToken, _ finished: [DeviceTokenUpdate]
    ) -> Self where Value == Void {
        Self { records throws(StoreError) in
            guard var stored = try records.deviceToken(), stored.token == sent.token else { return }
            if stored.isUnsent { stored.outstanding.formUnion(sent.outstanding) }
            stored.isUnsent = false
            for update in finished {
                stored.outstanding.remove(update.mechanism.uid)
                if case .notSupported = update.outcome { stored.unsupported.insert(update.mechanism.uid) }
            }
            try records.save(stored)
        }
    }

    /// Removes the stored device token.
    package static func removeDeviceToken() -> Self where Value == Void {
        Self { records throws(StoreError) in try records.removeDeviceToken() }
    }
}

extension AccountWriter {
    /// Records that a server was given `token` when the mechanism was registered.
    ///
    /// If the stored token is another one, the server is marked as yet to be told.
    func recordToken(_ token: String?, givenTo uid: String) throws(StoreError) {
        guard var stored = try deviceToken() else { return }
        let before = stored
        stored.unsupported.remove(uid)
        if stored.token == token { stored.outstanding.remove(uid) } else { stored.outstanding.insert(uid) }
        if stored != before { try save(stored) }
    }

    /// Marks the server of a push mechanism that came from an import or from the app as yet to be told.
    ///
    /// That server knows the token of another device, or none.
    package func markTokenOutstanding(_ mechanism: Mechanism) throws(StoreError) {
        guard mechanism.push != nil, var stored = try deviceToken() else { return }
        stored.outstanding.insert(mechanism.uid)
        stored.unsupported.remove(mechanism.uid)
        try save(stored)
    }
}
