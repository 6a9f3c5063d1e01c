import Foundation
import SignetCore

/// The store of the logout tokens that clients have not accepted yet.
///
/// The methods take the name of a token's row (``LogoutDelivery/rowName``).
struct LogoutDeliveryStore {
    /// The tokens of a client that can be sent.
    struct Due: Sendable, Hashable {
        /// The names of the tokens, ordered by the times of their attempts.
        var names: [String] = []
        /// The time of the earliest later attempt; nil when it is unknown because the search has not read that far.
        var next: Date?
    }

    /// The maximum number of tokens that one search reads for a client.
    static let pageSize = 50
    /// The time for which a token is stored after its deadline, in seconds, so that a worker that starts later logs it as failed.
    private static let memory = 86_400.0

    private var deliveries: Table<String, LogoutDelivery>

    init(_ transaction: RowCache) {
        deliveries = Table(.logoutDelivery, transaction)
    }

    subscript(name: String) -> LogoutDelivery? {
        get throws { try deliveries[name] }
    }

    /// Returns all tokens.
    func all() throws -> [LogoutDelivery] {
        var found: [LogoutDelivery] = []
        var last: String?
        while case let page = try deliveries.page(after: last, 500), let name = page.last?.name {
            found += page.map { $0.value }
            last = name
        }
        return found
    }

    /// Stores a new or changed token.
    mutating func store(_ delivery: LogoutDelivery) {
        deliveries.insert(delivery, for: delivery.rowName, until: delivery.deadline.addingTimeInterval(Self.memory))
    }

    /// Returns the unclaimed tokens of a client whose time has come.
    ///
    /// It reads at most ``pageSize`` rows, however many tokens wait.
    /// - Parameters:
    ///   - client: The client.
    ///   - now: The time by the server's clock.
    ///   - machine: The time by the machine's clock, for claims.
    /// - Returns: The names of the tokens, and the time of a later attempt.
    /// - Throws: The error of the store.
    func due(to client: ClientKey, at now: Date, machine: Date) throws -> Due {
        let prefix = LogoutDelivery.rowPrefix(of: client)
        var due = Due()
        for (name, delivery) in try deliveries.page(after: prefix, Self.pageSize) {
            guard name.hasPrefix(prefix) else { break }
            guard delivery.nextAttempt <= now else {
                due.next = delivery.nextAttempt
                break
            }
            if let claim = delivery.claim, machine < claim.end { continue }
            due.names.append(name)
        }
        return due
    }

    /// Claims a token for an attempt.
    ///
    /// Returns nil when it is gone, is not due, or has a valid claim of another holder.
    mutating func claim(_ name: String, _ claim: DispatchClaim, at now: Date, machine: Date) throws -> LogoutDelivery? {
        guard var delivery = try self[name], delivery.nextAttempt <= now else { return nil }
        if let present = delivery.claim, machine < present.end { return nil }
        delivery.claim = claim
        store(delivery)
        return delivery
    }

    /// Removes a token that needs no more attempts.
    ///
    /// Returns false when another holder has claimed it since.
    mutating func finish(_ name: String, by holder: String) throws -> Bool {
        guard try self[name]?.claim?.holder == holder else { return false }
        deliveries.discard(name)
        return true
    }

    /// Records a failed attempt and releases the claim.
    ///
    /// Returns true when it was the last attempt; the token is removed then.
    mutating func fail(_ name: String, by holder: String, at now: Date) throws -> Bool {
        guard var delivery = try self[name], delivery.claim?.holder == holder else { return false }
        // The time of the next attempt is a part of the name.
        deliveries.discard(name)
        delivery.failures += 1
        delivery.nextAttempt = now.addingTimeInterval(LogoutDelivery.pause(after: delivery.failures))
        delivery.claim = nil
        guard delivery.failures < LogoutDelivery.maxAttempts, delivery.nextAttempt < delivery.deadline else { return true }
        store(delivery)
        return false
    }

    /// Releases the claim of a holder, so that other workers can send the token.
    mutating func release(_ name: String, by holder: String) throws {
        guard var delivery = try self[name], delivery.claim?.holder == holder else { return }
        delivery.claim = nil
        store(delivery)
    }

    /// Releases the claims of all tokens.
    ///
    /// It is for a restored state, in which the holders of the claims may not exist any more.
    mutating func releaseAll() throws {
        for var delivery in try all() where delivery.claim != nil {
            delivery.claim = nil
            store(delivery)
        }
    }
}
