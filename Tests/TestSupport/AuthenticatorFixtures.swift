package import Foundation
package import SignetAuthenticator
package import SignetCore
package import SignetNetwork
import SignetStorage
package import SignetTesting

/// The sample data of the vectors: account `mira` at `Harbor Bank`.
package enum Sample {
    package static let start = Date(timeIntervalSince1970: 1_735_689_600)
    package static let secret = "wh4BisPebv-FgKLqSuSZH_CS4ZuWe9A0P-pYsvNcd8U"
    package static let challenge = "G2tcJpKPq_TRfT9Ga8Tl3Bf-chv9McNIF8xTwrf5yUU"
    package static let response = "LcDpX6F83UYFewhbxp3xUy1Ti9LpHyHv6SjDc2NO1yI="
    /// The secret in ``totp``, ``hotp`` and ``combined``.
    package static let oathKey = "KDJ7CDBNBTGWZBQC7WMBG46RPBZ6L4UD"
    package static let totp = "otpauth://totp/Harbor%20Bank:mira?secret=KDJ7CDBNBTGWZBQC7WMBG46RPBZ6L4UD&issuer=Harbor%20Bank"
    package static let hotp =
        "otpauth://hotp/Harbor%20Bank:mira?secret=KDJ7CDBNBTGWZBQC7WMBG46RPBZ6L4UD&issuer=Harbor%20Bank&counter=7"
    package static let account = AccountID(issuer: "Harbor Bank", accountName: "mira")
    package static let endpoint = "https://am.example.test/am/json/alpha/push/sns/message?_action="

    package static var push: String { uri("pushauth://push") }
    /// Another invitation for the account of ``push``.
    package static var secondPush: String { push.replacing("REGISTER:1", with: "REGISTER:2") }
    package static var combined: String { uri("mfauth://totp") + "&secret=KDJ7CDBNBTGWZBQC7WMBG46RPBZ6L4UD" }

    package static func base64(_ text: String) -> String { Base64.encode(Array(text.utf8), as: .url) }

    private static func uri(_ head: String) -> String {
        "\(head)/Harbor%20Bank:mira?r=\(base64(endpoint + "register"))&a=\(base64(endpoint + "authenticate"))&b=336699"
            + "&s=\(secret)&c=\(challenge)&l=\(base64("amlbcookie=01"))&m=REGISTER:1&issuer=\(base64("Harbor Bank"))"
    }
}

/// A kind of store for the accounts of a test.
package enum StoreKind: String, CaseIterable, Sendable {
    case memory, sqlite, vault

    package func withStore(_ body: (AccountRecords) async throws -> Void) async throws {
        try await TemporaryDirectory.with { directory in
            switch self {
            case .memory: try await body(AccountRecords(unsealed: MemoryStore()))
            case .sqlite: try await body(AccountRecords(unsealed: SQLiteStore(path: directory.file("store"), creating: true)))
            case .vault: try await body(AccountRecords(VaultDirectory(path: directory.file("vault")).createVault(.keyFile)))
            }
        }
    }
}

/// An authenticator over a scripted server, with a manual clock.
package struct AuthenticatorFixture {
    package let store: AccountRecords
    package let transport: ScriptedTransport
    package let clock = ManualClock(Sample.start)
    package let authenticator: Authenticator

    package init(
        store: AccountRecords = AccountRecords(unsealed: MemoryStore()), policies: AccountPolicies = .default,
        retention: NotificationRetention = .default, interceptors: [any RequestInterceptor] = [],
        platforms: [any PushPlatform] = [],
        answer: @escaping @Sendable (HTTPRequest) async throws(TransportError) -> HTTPResponse = { _ in
            HTTPResponse(status: 200, body: Array("{}".utf8))
        }
    ) {
        self.store = store
        transport = ScriptedTransport(answer)
        authenticator = Authenticator(
            store: store, transport: transport, device: PushDevice(token: "token-1", name: "Mira's laptop"), clock: clock,
            policies: policies, retention: retention, interceptors: interceptors, platforms: platforms)
    }

    /// Returns everything that is stored, read from the store itself.
    package func state() throws -> StoredState { try StoredState(store) }

    /// Enrolls the sample push account and returns its mechanism.
    package func enrollPush() async throws -> Mechanism {
        try await authenticator.enroll(uri: Sample.push).mechanisms[0]
    }

    /// Returns a message signed as the sample account's server signs it.
    package func delivery(
        to mechanism: Mechanism, id: String = "AUTHENTICATE:1", kind: PushKind = .tap, sentAt: Date = Sample.start,
        ttl: Int = 120, secret: Secret? = nil, userID: String? = nil
    ) throws -> PushDelivery {
        let message = PushMessage(
            mechanismUID: mechanism.uid, challenge: Array("challenge".utf8), kind: kind, timeToLive: ttl, sentAt: sentAt,
            text: "Login at Harbor Bank", loadBalancerCookie: "amlbcookie=02", userID: userID)
        guard let key = secret ?? mechanism.push?.secret else { throw AuthenticatorTestError.noPush }
        return PushDelivery(messageId: id, message: message.sealed(with: key))
    }
}

/// The complete content of a store.
package struct StoredState: Equatable, Sendable {
    package let accounts: [Account]
    package let mechanisms: [Mechanism]
    package let notifications: [PushNotification]
    package let token: StoredDeviceToken?

    package init(_ store: AccountRecords) throws {
        self = try store.read { (records: any AccountReader) throws(StoreError) in
            StoredState(
                accounts: try records.accounts(), mechanisms: try records.mechanisms(),
                notifications: try records.notifications(), token: try records.deviceToken())
        }
    }

    private init(
        accounts: [Account], mechanisms: [Mechanism], notifications: [PushNotification], token: StoredDeviceToken?
    ) {
        (self.accounts, self.mechanisms, self.notifications, self.token) = (accounts, mechanisms, notifications, token)
    }

    /// True when a mechanism has no account or a notification no mechanism.
    package var hasOrphans: Bool {
        let (ids, uids) = (Set(accounts.map(\.id)), Set(mechanisms.map(\.uid)))
        return !mechanisms.allSatisfy { ids.contains($0.account) }
            || !notifications.allSatisfy { uids.contains($0.message.mechanismUID) }
    }
}

package enum AuthenticatorTestError: Error { case noPush }

/// Returns the error's code, for expectations.
package func code(_ error: any Error) -> AuthenticatorError.Code? { (error as? AuthenticatorError)?.code }
