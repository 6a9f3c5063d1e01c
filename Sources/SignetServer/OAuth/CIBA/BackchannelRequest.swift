import Foundation
import HTTPTypes
import SignetCore

/// A client's request for the approval of a user, which waits for the answer of the user's device (OpenID Connect Client-Initiated
/// Backchannel Authentication, CIBA).
struct BackchannelRequest: Codable, Sendable {
    let client: ClientKey
    let user: UserKey
    /// The id of the user's password at the request (``UserRecord/generation``).
    let generation: String?
    let scopes: [String]
    /// The push message that the user answers.
    let messageID: String
    let expiresAt: Date
    /// The minimum time between two polls, in seconds.
    ///
    /// It grows when the client polls too early.
    var interval: Int
    var lastAsked: Date?
    /// True after the client has got tokens, or the refusal; nil has the meaning of false.
    var isSpent: Bool?
}

/// The requests for approvals that clients have not completed.
struct BackchannelRequestStore {
    /// The time in seconds for which an expired request is remembered, so that it is reported as expired and not as unknown.
    private static let memory = 600.0

    private var requests: Table<TokenHash, BackchannelRequest>
    private let time: RequestTime

    init(_ transaction: RowCache, _ time: RequestTime) {
        self.time = time
        requests = Table(.backchannelRequest, transaction)
    }

    /// Returns true when a new request would displace another one.
    func isFull() throws -> Bool { try requests.isFull() }

    /// Stores a request, and returns its `auth_req_id` (CIBA section 7.3), which has 256 random bits.
    mutating func add(_ request: BackchannelRequest) -> String {
        let id = RandomID.token()
        requests.insert(request, for: TokenHash(id), until: request.expiresAt.addingTimeInterval(Self.memory))
        return id
    }

    /// Answers a poll of a client for its tokens (CIBA sections 10.1 and 11).
    /// - Parameters:
    ///   - id: The `auth_req_id`.
    ///   - client: The client.
    ///   - answer: Returns the state of the user's answer to a message; nil for a message that isn't known any more.
    /// - Returns: The request that the user has approved, or a refusal, whose consequences are changes to commit: an early poll
    ///   makes the interval longer.
    /// - Throws: `StoreError`.
    mutating func redeem(
        _ id: String, for client: RegisteredClient, answer: (String) throws -> PushMessageRecord.State?
    ) throws -> Result<BackchannelRequest, OAuthErrorResponse> {
        let key = TokenHash(id)
        guard var request = try requests[key], request.client == client.key, request.isSpent != true else {
            return .failure(.invalidGrant("The auth_req_id is invalid"))
        }
        guard time.now < request.expiresAt else {
            return .failure(OAuthErrorResponse(.badRequest, "expired_token", "The auth_req_id has expired"))
        }
        let isEarly = request.lastAsked.map { time.now.timeIntervalSince($0) < Double(request.interval) } ?? false
        request.lastAsked = time.now
        let state = try answer(request.messageID)
        let result: Result<BackchannelRequest, OAuthErrorResponse>
        switch state {
        case .approved?:
            request.isSpent = true
            result = .success(request)
        case .denied?:
            request.isSpent = true
            result = .failure(OAuthErrorResponse(.badRequest, "access_denied", "The user has denied the request"))
        case .waiting? where isEarly:
            request.interval += 5
            result = .failure(OAuthErrorResponse(.badRequest, "slow_down", "The polling interval has not elapsed"))
        case .waiting?:
            result = .failure(OAuthErrorResponse(.badRequest, "authorization_pending", "The user has not answered yet"))
        case nil:
            result = .failure(OAuthErrorResponse(.badRequest, "expired_token", "The auth_req_id has expired"))
        }
        try requests.update(key) { [request] in $0 = request }
        return result
    }
}

extension ServerTransaction {
    /// Answers a poll of a client for the tokens of an approval.
    /// - Returns: The grant, or a refusal, whose consequences are changes to commit.
    /// - Throws: `StoreError`.
    mutating func redeemBackchannelRequest(
        _ id: String, for client: RegisteredClient
    ) throws -> Result<Grant, OAuthErrorResponse> {
        let result = try backchannelRequests.redeem(id, for: client) { [pushes] in try pushes.entry($0)?.state }
        return result.map { [now] request in
            var grant = Grant(
                client: client.key, user: request.user, scopes: request.scopes, authenticatedAt: now, session: TokenHash(id),
                nonce: nil, generation: request.generation)
            grant.type = RegisteredClient.GrantType.backchannel.rawValue
            return grant
        }
    }
}
