import Foundation
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting

@testable import FRAuthenticator

/// A run of a case: a family, its storage and a server.
final class FamilyCaseRun: Sendable {
    let family: any Family
    let storage: CaseStorage
    let server: any CaseServer
    private let values = Mutex((notification: "", delivery: PushDelivery?.none, codes: [String]()))

    init(_ makeFamily: FamilyKind, _ storage: CaseStorage, _ server: any CaseServer) throws {
        family = try makeFamily.family(over: storage.opened(), server)
        (self.storage, self.server) = (storage, server)
    }

    /// The account under test.
    var account: AccountID { server.account }
    /// Returns the stored content of that account.
    func state() throws -> CaseStorage.State { try storage.state().of(account) }

    /// The id of the notification under test.
    var notification: String {
        get { values.withLock { $0.notification } }
        set { values.withLock { $0.notification = newValue } }
    }
    /// The push message under test.
    var delivery: PushDelivery {
        get throws {
            guard let delivery = values.withLock({ $0.delivery }) else { throw Unexpected() }
            return delivery
        }
    }
    /// The codes that were shown.
    var codes: [String] { values.withLock { $0.codes } }
    func show(_ code: String) { values.withLock { $0.codes.append(code) } }

    func enroll(_ offers: Offer...) async throws {
        for offer in offers { try await family.enroll(try await server.uri(offer)) }
    }

    /// Makes the server send a message, and returns it.
    @discardableResult func login(_ kind: PushKind = .tap) async throws -> PushDelivery {
        guard let mechanism = try state().mechanisms.first(where: { $0.kindName == .push }) else { throw Unexpected() }
        let delivery = try await server.message(kind, to: mechanism)
        values.withLock { $0.delivery = delivery }
        return delivery
    }

    /// Makes the server send a message, and receives it.
    func receive(_ kind: PushKind = .tap) async throws { notification = try await family.receive(login(kind)) }
}

enum FamilyKind: String, CaseIterable, Sendable {
    case modern, legacy

    func family(over backing: StoreKind, _ server: any CaseServer) throws -> any Family {
        switch self {
        case .modern: ModernFamily(backing, server.transport, server.clock)
        case .legacy: LegacyFamily(backing, server.transport, server.clock)
        }
    }
}

/// A mechanism that a server offers for enrollment.
enum Offer: Sendable {
    case totp, hotp, push, combined
    /// TOTP without a server, under a policy that no test client evaluates.
    case underPolicy
    /// TOTP under a policy that this device does not meet.
    case underUnmetPolicy
}

/// The server's side of a case.
protocol CaseServer: Sendable {
    var account: AccountID { get }
    var transport: any HTTPTransport { get }
    var clock: ManualClock { get }
    func uri(_ offer: Offer) async throws -> String
    func message(_ kind: PushKind, to mechanism: SignetCore.Mechanism) async throws -> PushDelivery
    /// The number that the login page shows for the last message.
    var number: Int { get }
}

extension CaseServer {
    /// Returns the URI of an offer that needs no server.
    func localURI(_ offer: Offer) -> String? {
        let account = account
        func uri(_ type: String, _ rest: String) -> String {
            let label = [account.issuer, account.accountName].map { $0.replacing(" ", with: "%20") }
            return "otpauth://\(type)/\(label[0]):\(label[1])?secret=\(Sample.oathSecret)&issuer=\(label[0])\(rest)"
        }
        return switch offer {
        case .totp: uri("totp", "")
        case .hotp: uri("hotp", "&counter=7")
        case .underPolicy: uri("totp", "&policies=\(Sample.base64(#"{"custom":{}}"#))")
        case .underUnmetPolicy: uri("totp", "&policies=\(Sample.base64(#"{"biometricAvailable":{}}"#))")
        case .push, .combined: nil
        }
    }
}

/// A scripted AM server that accepts every request.
final class AcceptingServer: CaseServer {
    let account = AccountID(issuer: "Harbor Bank", accountName: "mira")
    let clock = ManualClock(Sample.start)
    let transport: any HTTPTransport = ScriptedTransport(ClientFixture.accept)
    let number = 56
    private let messages = Mutex(0)

    func uri(_ offer: Offer) async throws -> String {
        switch offer {
        case .push: Sample.push
        case .combined: Sample.combined
        default: localURI(offer) ?? ""
        }
    }

    func message(_ kind: PushKind, to mechanism: SignetCore.Mechanism) async throws -> PushDelivery {
        let number = messages.withLock { count in
            count += 1
            return count
        }
        let message = try Sample.message(to: mechanism.uid, kind: kind, sentAt: clock.now)
        return PushDelivery(messageId: "AUTHENTICATE:\(number)", message: message)
    }
}
