import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An endpoint of a front: what another server knows a mailbox by.
struct PushGatewayEndpoint: Sendable, Hashable, Codable {
    let arn: String
    let application: String
    /// The mailbox's address.
    var token: String
    var isEnabled: Bool
    var userData: String

    /// The attributes as they are asked for.
    var attributes: [String: String] {
        var attributes = ["Enabled": String(isEnabled), "Token": token]
        if !userData.isEmpty { attributes["CustomUserData"] = userData }
        return attributes
    }
}

/// A message in a mailbox of a front.
struct MailboxMessage: Sendable, Hashable, Codable {
    let messageID: String
    /// The signed message, which only the device can verify.
    let message: String
    /// The id of the event that carries it; later messages have higher ones.
    let eventID: UInt64
    /// From here on nobody could answer it any more.
    let deadline: Date
}

/// What a front knows: the endpoints that other servers made, and the messages that wait in mailboxes.
struct PushGatewayStore {
    /// The most endpoints that are kept in memory. Only who has a key can make one.
    static let mostEndpoints = 100_000

    /// What is known of a mailbox without looking at its messages. There is none without an endpoint.
    struct Mailbox: Codable, Sendable {
        /// The endpoints that lead to it.
        var arns: [String] = []
        var lastEventID: UInt64 = 0
    }

    private var endpoints: Table<String, PushGatewayEndpoint>
    private var mailboxes: Table<String, Mailbox>
    /// In groups by mailbox.
    private var messages: Table<String, MailboxMessage>

    init(_ transaction: RowCache) {
        endpoints = Table(.gatewayEndpoint, transaction)
        mailboxes = Table(.frontMailbox, transaction)
        messages = Table(.frontMessage, transaction)
    }

    // MARK: Endpoints

    func endpoint(_ arn: String) -> PushGatewayEndpoint? { endpoints[arn] }

    /// Whether somebody sends to the mailbox.
    func hasMailbox(_ address: String) -> Bool { mailboxes[address] != nil }

    /// Makes an endpoint. One that is there with the same attributes is the same again.
    mutating func create(
        _ application: SNSResource, arn: String, token: String, _ attributes: EndpointAttributes, at now: Date
    ) throws(SNSError) -> PushGatewayEndpoint {
        let (isEnabled, userData) = (attributes.isEnabled ?? true, attributes.userData ?? "")
        let present = (mailboxes[token]?.arns ?? []).compactMap { endpoints[$0] }
        if let found = present.first(where: { $0.application == arn }) {
            guard found.isEnabled == isEnabled, found.userData == userData, attributes.token ?? token == token else {
                throw .invalidParameter(
                    "Token", "Endpoint \(found.arn) already exists with the same Token, but different attributes.")
            }
            return found
        }
        guard attributes.token ?? token == token else {
            throw .invalidParameter("Attributes", "Token must be the same as the parameter Token")
        }
        guard !endpoints.isFull(at: now), !mailboxes.isFull(at: now) else { throw .full }
        let endpoint = PushGatewayEndpoint(
            arn: application.endpoint(RandomID.uuid().lowercased()), application: arn, token: token, isEnabled: isEnabled,
            userData: userData)
        store(endpoint)
        return endpoint
    }

    /// Changes an endpoint.
    /// - Returns: the mailbox that nobody sends to any more, if it led to one.
    mutating func set(_ arn: String, _ attributes: EndpointAttributes, at now: Date) throws(SNSError) -> String? {
        guard var endpoint = endpoints[arn] else { throw .noEndpoint }
        let before = endpoint.token
        endpoint.isEnabled = attributes.isEnabled ?? endpoint.isEnabled
        endpoint.userData = attributes.userData ?? endpoint.userData
        endpoint.token = attributes.token ?? before
        let released = endpoint.token != before && release(arn, of: before, at: now) ? before : nil
        store(endpoint)
        return released
    }

    /// Deletes an endpoint. One that is not there is as good as deleted, as at Amazon.
    /// - Returns: the mailbox that nobody sends to any more, if it led to one.
    mutating func delete(_ arn: String, at now: Date) -> String? {
        guard let endpoint = endpoints.remove(arn, at: now) else { return nil }
        return release(arn, of: endpoint.token, at: now) ? endpoint.token : nil
    }

    private mutating func store(_ endpoint: PushGatewayEndpoint) {
        endpoints[endpoint.arn] = endpoint
        var mailbox = mailboxes[endpoint.token] ?? Mailbox()
        guard !mailbox.arns.contains(endpoint.arn) else { return }
        mailbox.arns.append(endpoint.arn)
        mailboxes[endpoint.token] = mailbox
    }

    /// A mailbox that nobody sends to is none any more.
    private mutating func release(_ arn: String, of address: String, at now: Date) -> Bool {
        guard var mailbox = mailboxes[address] else { return false }
        mailbox.arns.removeAll { $0 == arn }
        guard mailbox.arns.isEmpty else {
            mailboxes[address] = mailbox
            return false
        }
        mailboxes[address] = nil
        _ = messages.discard(group: address, at: now)
        return true
    }

    // MARK: Messages

    /// Puts a message into a mailbox. One that is sent again is the same.
    mutating func add(_ delivery: PushDelivery, to address: String, at now: Date) throws(SNSError) {
        guard var mailbox = mailboxes[address] else { throw .noEndpoint }
        let name = Self.name(delivery.messageId, address)
        guard messages.value(for: name, at: now) == nil else { return }
        guard messages.group(address, at: now).count < PushMessageStore.mailboxSize, !messages.isFull(at: now) else {
            throw .full
        }
        // They grow with the time, so that they go on growing when the mailbox was forgotten.
        mailbox.lastEventID = max(mailbox.lastEventID + 1, UInt64(max(0, now.timeIntervalSince1970 * 1_000_000)))
        mailboxes[address] = mailbox
        let message = MailboxMessage(
            messageID: delivery.messageId, message: delivery.message, eventID: mailbox.lastEventID,
            deadline: now.addingTimeInterval(Self.lifetime(of: delivery)))
        messages.insert(message, for: name, group: address, until: message.deadline)
    }

    /// The messages that may still be answered, oldest first: those after the event `last`, or all of them when there is no such
    /// event.
    func retained(for address: String, after last: UInt64?, at now: Date) -> [MailboxMessage] {
        guard let mailbox = mailboxes[address] else { return [] }
        let start = last.map { $0 <= mailbox.lastEventID ? $0 : 0 } ?? 0
        return messages.group(address, at: now).filter { $0.eventID > start }.sorted { $0.eventID < $1.eventID }
    }

    /// An address has no space.
    private static func name(_ messageID: String, _ address: String) -> String { "\(address) \(messageID)" }

    /// How long the message says that it waits for an answer, in seconds. Nobody has vouched for it here, so it is only a reason to
    /// forget it: no longer than a day.
    private static func lifetime(of delivery: PushDelivery) -> Double {
        let payload = try? CompactJWS(delivery.message).unverifiedPayload()
        let claim = payload.flatMap { try? JSON.value(of: $0) }?["t"]
        let seconds = claim?.wholeNumber.map { Double($0) } ?? claim?.string.flatMap(Double.init) ?? standardLifetime
        return min(max(seconds.isFinite ? seconds : standardLifetime, 1), 86_400)
    }

    private static let standardLifetime = 120.0
}
