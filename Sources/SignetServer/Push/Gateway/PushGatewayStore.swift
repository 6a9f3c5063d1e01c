import Foundation
import SignetCore
import SignetPushGateway

/// A message in an inbox of the gateway.
struct InboxMessage: Sendable, Hashable, Codable {
    let messageID: String
    /// The signed message.
    ///
    /// Only the device can verify it.
    let message: String
    /// The subject of the publication, which is not signed; nil without one, and in rows that earlier versions wrote.
    var subject: String?
    /// The id of the event that carries the message.
    ///
    /// Later messages have higher ids.
    let eventID: UInt64
    /// The time after which an answer comes too late, and the message is removed.
    let deadline: Date
}

/// The data of the gateway: the endpoints that other servers created and the messages that wait in inboxes.
struct PushGatewayStore {
    /// The maximum number of endpoints that are kept in memory.
    ///
    /// Only clients with an access key can create one.
    static let maxEndpoints = 100_000

    /// The metadata of an inbox, which is stored apart from its messages.
    ///
    /// An inbox exists as long as it has an endpoint.
    struct Inbox: Codable, Sendable {
        /// The ARNs of the endpoints that lead to the inbox.
        var arns: [String] = []
        var lastEventID: UInt64 = 0
    }

    private var endpoints: Table<String, PushGatewayEndpoint>
    private var inboxes: Table<String, Inbox>
    /// The messages, grouped by the address of their inbox.
    private var messages: Table<String, InboxMessage>
    private let now: Date

    init(_ transaction: RowCache) {
        endpoints = Table(.gatewayEndpoint, transaction)
        inboxes = Table(.gatewayInbox, transaction)
        messages = Table(.gatewayMessage, transaction)
        now = transaction.now
    }

    // MARK: Endpoints

    func endpoint(_ arn: String) throws -> PushGatewayEndpoint? { try endpoints[arn] }

    /// Returns true when the inbox exists, which means that at least one endpoint leads to it.
    func hasInbox(_ address: String) throws -> Bool { try inboxes[address] != nil }

    /// Creates an endpoint.
    ///
    /// If one with the same application, token and attributes exists, it is returned instead.
    /// - Throws: ``SNSError`` when an endpoint with the same token has different attributes, or when the store is full.
    mutating func create(
        _ application: SNSResource, arn: String, token: String, _ attributes: EndpointAttributes
    ) throws -> PushGatewayEndpoint {
        let present = try (inboxes[token]?.arns ?? []).compactMap { try endpoints[$0] }
        if let found = present.first(where: { $0.application == arn }) {
            guard found.matches(attributes) else {
                throw SNSError.invalidParameter(
                    "Token", "Endpoint \(found.arn) already exists with the same Token, but different attributes.")
            }
            return found
        }
        guard attributes.token ?? token == token else {
            throw SNSError.invalidParameter("Attributes", "Token must be the same as the parameter Token")
        }
        guard try !endpoints.isFull(), try !inboxes.isFull() else { throw SNSError.full }
        let endpoint = PushGatewayEndpoint(of: application, arn: arn, token: token, attributes)
        try store(endpoint)
        return endpoint
    }

    /// Changes an endpoint.
    /// - Returns: The address of the inbox that was removed because no endpoint leads to it any more; nil when none was removed.
    /// - Throws: ``SNSError`` when the endpoint does not exist.
    mutating func set(_ arn: String, _ attributes: EndpointAttributes) throws -> String? {
        guard var endpoint = try endpoints[arn] else { throw SNSError.noEndpoint }
        let before = endpoint.token
        endpoint.set(attributes)
        let released = try endpoint.token != before && release(arn, of: before) ? before : nil
        try store(endpoint)
        return released
    }

    /// Deletes an endpoint.
    ///
    /// As in AWS SNS, deleting an endpoint that does not exist succeeds.
    /// - Returns: The address of the inbox that was removed because no endpoint leads to it any more; nil when none was removed.
    mutating func delete(_ arn: String) throws -> String? {
        guard let endpoint = try endpoints.remove(arn) else { return nil }
        return try release(arn, of: endpoint.token) ? endpoint.token : nil
    }

    private mutating func store(_ endpoint: PushGatewayEndpoint) throws {
        endpoints.insert(endpoint, for: endpoint.arn)
        var inbox = try inboxes[endpoint.token] ?? Inbox()
        guard !inbox.arns.contains(endpoint.arn) else { return }
        inbox.arns.append(endpoint.arn)
        inboxes.insert(inbox, for: endpoint.token)
    }

    /// Removes an endpoint from its inbox.
    ///
    /// If no endpoint remains, it removes the inbox with its messages and returns true.
    private mutating func release(_ arn: String, of address: String) throws -> Bool {
        guard var inbox = try inboxes[address] else { return false }
        inbox.arns.removeAll { $0 == arn }
        guard inbox.arns.isEmpty else {
            inboxes.insert(inbox, for: address)
            return false
        }
        inboxes.discard(address)
        _ = try messages.discard(group: address)
        return true
    }

    // MARK: Messages

    /// Puts a message into an inbox.
    ///
    /// A message that is already in the inbox is not added again.
    /// - Throws: ``SNSError`` when the inbox does not exist or is full.
    mutating func add(_ delivery: PushDelivery, to address: String) throws {
        guard var inbox = try inboxes[address] else { throw SNSError.noEndpoint }
        let name = Self.name(delivery.messageId, address)
        guard try messages[name] == nil else { return }
        guard try messages.group(address).count < PushMessageStore.inboxCapacity, try !messages.isFull() else {
            throw SNSError.full
        }
        // Event ids are derived from the time, so that they still increase after an inbox was removed and created again.
        inbox.lastEventID = max(inbox.lastEventID + 1, UInt64(max(0, now.timeIntervalSince1970 * 1_000_000)))
        inboxes.insert(inbox, for: address)
        let message = InboxMessage(
            messageID: delivery.messageId, message: delivery.message, subject: delivery.subject, eventID: inbox.lastEventID,
            deadline: now.addingTimeInterval(Self.lifetime(of: delivery)))
        messages.insert(message, for: name, group: address, until: message.deadline)
    }

    /// Returns the messages that can still be answered, oldest first: those after the event `last`, or all of them when `last` is
    /// nil or newer than the newest event of the inbox.
    func retained(for address: String, after last: UInt64?) throws -> [InboxMessage] {
        guard let inbox = try inboxes[address] else { return [] }
        let start = last.map { $0 <= inbox.lastEventID ? $0 : 0 } ?? 0
        return try messages.group(address).filter { $0.eventID > start }.sorted { $0.eventID < $1.eventID }
    }

    /// Returns the key of a message in the table.
    ///
    /// The space is unambiguous because addresses contain none.
    private static func name(_ messageID: String, _ address: String) -> String { "\(address) \(messageID)" }

    /// Returns the lifetime that the message claims for itself, in seconds, limited to one day.
    ///
    /// The gateway cannot verify the message, so it uses the value only to decide when to remove the message.
    private static func lifetime(of delivery: PushDelivery) -> Double {
        let payload = try? CompactJWS(delivery.message).unverifiedPayload()
        let claim = payload.flatMap { try? JSON.value(of: $0) }?["t"]
        let seconds = claim?.lenientInteger.map { Double($0) } ?? claim?.string.flatMap(Double.init) ?? defaultLifetime
        return min(max(seconds.isFinite ? seconds : defaultLifetime, 1), 86_400)
    }

    private static let defaultLifetime = 120.0
}

extension StateStore: PushGatewayState {
    func createEndpoint(
        _ application: SNSResource, arn: String, token: String, _ attributes: EndpointAttributes
    ) async throws -> PushGatewayEndpoint {
        try await write { tx in try tx.gateway.create(application, arn: arn, token: token, attributes) }
    }

    func endpoint(_ arn: String) async throws -> PushGatewayEndpoint? {
        try await read { tx in try tx.gateway.endpoint(arn) }
    }

    func setAttributes(_ attributes: EndpointAttributes, of arn: String) async throws {
        try await write { tx in
            if let released = try tx.gateway.set(arn, attributes) { tx.effects.append(.endInbox(released)) }
        }
    }

    func deleteEndpoint(_ arn: String) async throws {
        try await write { tx in
            if let released = try tx.gateway.delete(arn) { tx.effects.append(.endInbox(released)) }
        }
    }

    func deliver(_ delivery: PushDelivery, to arn: String) async throws {
        try await write { tx in
            guard let endpoint = try tx.gateway.endpoint(arn) else { throw SNSError.noEndpoint }
            guard endpoint.isEnabled else { throw SNSError.disabled }
            try tx.gateway.add(delivery, to: endpoint.token)
            tx.effects.append(.wakeInbox(endpoint.token))
        }
    }
}
