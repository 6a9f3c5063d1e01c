import Foundation
import HTTPTypes
import SignetCore

/// The authorization of a device without a browser, which waits for a user's approval (RFC 8628).
struct DeviceAuthorization: Codable, Sendable {
    enum State: Codable, Sendable {
        case waiting
        case allowed(Grant)
        case denied
        case spent
    }

    let client: ClientKey
    let scopes: [String]
    let challenge: String?
    let userCode: String
    let expiresAt: Date
    /// The minimum time between two polls, in seconds.
    ///
    /// It grows when the device polls too early.
    var interval: Int
    var lastAsked: Date?
    var state = State.waiting
}

/// The pending device authorizations.
struct DeviceCodeStore {
    private var devices: Table<TokenHash, DeviceAuthorization>
    private var userCodes: Table<String, TokenHash>
    private let time: RequestTime

    init(_ transaction: RowCache, _ time: RequestTime) {
        self.time = time
        devices = Table(.deviceCode, transaction)
        userCodes = Table(.userCode, transaction)
    }

    /// The number of seconds that an expired code is remembered, so that it is reported as expired and not as unknown.
    private static let memory = 600.0

    /// The letters of user codes.
    ///
    /// They have no vowels, so that the codes form no words, and no letters that look like digits or like each other (RFC 8628
    /// section 6.1).
    private static let letters = Array("BCDFGHJKLMNPQRSTVWXZ")

    /// Begins a device authorization.
    ///
    /// Returns the device code and the stored authorization.
    mutating func begin(
        _ client: RegisteredClient, scopes: [String], challenge: String?
    ) throws -> (code: String, DeviceAuthorization) {
        let code = RandomID.token()
        var userCode = ""
        repeat { userCode = Self.newUserCode() } while try userCodes[Self.plain(userCode)] != nil
        let device = DeviceAuthorization(
            client: client.key, scopes: scopes, challenge: challenge, userCode: userCode,
            expiresAt: time.now.addingTimeInterval(Double(client.lifetimes(time).deviceCode)),
            interval: max(1, time.configuration.devicePollInterval))
        let end = device.expiresAt.addingTimeInterval(Self.memory)
        devices.insert(device, for: TokenHash(code), until: end)
        userCodes.insert(TokenHash(code), for: Self.plain(userCode), until: device.expiresAt)
        return (code, device)
    }

    /// Returns the device with a user code.
    ///
    /// Letter case and separators in the code don't matter.
    func device(showing userCode: String, in realm: RealmPath) throws -> DeviceAuthorization? {
        guard let key = try userCodes[Self.plain(userCode)], let device = try devices[key],
            device.client.realm == realm
        else { return nil }
        return device
    }

    /// Stores the user's decision.
    ///
    /// A code can be decided on once.
    mutating func decide(_ userCode: String, _ state: DeviceAuthorization.State) throws {
        guard let key = try userCodes.remove(Self.plain(userCode)) else { return }
        try devices.update(key) { $0.state = state }
    }

    /// Answers a poll of a device for its tokens (RFC 8628 section 3.5).
    /// - Returns: The grant, or a refusal, whose consequences are changes to commit: an early poll makes the interval longer.
    mutating func redeem(
        _ code: String, for client: RegisteredClient, verifier: String?
    ) throws -> Result<Grant, OAuthErrorResponse> {
        let unknown = OAuthErrorResponse.invalidGrant("The device code is invalid")
        let key = TokenHash(code)
        guard var device = try devices[key], device.client == client.key else { return .failure(unknown) }
        guard ProofKey.matches(verifier, device.challenge) else { return .failure(.wrongVerifier) }
        if case .spent = device.state { return .failure(unknown) }
        guard time.now < device.expiresAt else {
            return .failure(OAuthErrorResponse(.badRequest, "expired_token", "The provided device code has expired"))
        }
        let isEarly = device.lastAsked.map { time.now.timeIntervalSince($0) < Double(device.interval) } ?? false
        device.lastAsked = time.now
        if isEarly { device.interval += 5 }
        let state = device.state
        if case .allowed = state { device.state = .spent }
        try devices.update(key) { [device] in $0 = device }
        switch state {
        case .allowed(let grant): return .success(grant)
        case .denied:
            return .failure(OAuthErrorResponse(.badRequest, "access_denied", "The resource owner denied the request"))
        case .waiting, .spent:
            let (code, message) =
                isEarly
                ? ("slow_down", "The polling interval has not elapsed")
                : ("authorization_pending", "The user has not yet completed authorization")
            return .failure(OAuthErrorResponse(HTTPResponse.Status(code: time.configuration.devicePendingStatus), code, message))
        }
    }

    private static func newUserCode() -> String {
        let half = { String((0..<4).map { _ in letters[Int.random(in: 0..<letters.count)] }) }
        return "\(half())-\(half())"
    }

    private static func plain(_ userCode: String) -> String {
        userCode.uppercased().filter { $0.isLetter && $0.isASCII }
    }
}
