import Foundation
public import SignetCore
import SignetNetwork
package import SignetStorage

extension Authenticator {
    /// Enrolls the account of an enrollment URI; see ``enroll(_:pushGateway:replacing:)``.
    /// - Throws: `EnrollmentError` when the URI is invalid, and the errors of ``enroll(_:pushGateway:replacing:)``.
    public func enroll(
        uri: String, policy: EndpointPolicy = .secure, pushGateway: Endpoint? = nil
    ) async throws -> EnrolledAccount {
        try await enroll(EnrollmentURI.parse(uri, policy: policy), pushGateway: pushGateway)
    }

    /// Enrolls an account: registers the device for push if the enrollment has a push invitation, then stores the account and its
    /// mechanisms in one transaction.
    ///
    /// When any step fails nothing is stored, and the same enrollment can be tried again.
    ///
    /// When the store fails after the server has registered the device, the call throws
    /// ``AuthenticatorError/Code/registeredNotStored``. The device gets the same mechanism id each time the same push invitation
    /// is enrolled. This authenticator therefore stores the mechanism on the next attempt without another request to the server.
    /// Another authenticator registers the mechanism again, as the same device, for as long as the server accepts the invitation;
    /// privacyIDEA accepts it once.
    ///
    /// A server that sends push messages only to phones, as AM does, is given the address of an inbox at `pushGateway` instead of a
    /// phone's token, and ``PushStreamListener`` connects there (docs/guides/push.md). A server with its own push stream needs no push
    /// gateway.
    ///
    /// An account that is already stored keeps its names, its lock, its creation time and its other mechanisms.
    ///
    /// The transaction that stores a new mechanism removes the mechanism that it replaces with its notifications. Until then the
    /// replaced mechanism stays, also when the server refuses the registration.
    /// - Parameters:
    ///   - enrollment: The enrollment to carry out.
    ///   - pushGateway: The push gateway that receives the messages of a server without a push stream; nil for no gateway.
    ///   - replacing: The ids of mechanisms of the account that the enrollment may replace with one of the same kind. Ids of
    ///     other mechanisms have no effect.
    /// - Returns: The account with its current lock and all its mechanisms, including earlier ones.
    /// - Throws: ``AuthenticatorError/Code/duplicateMechanism`` when the account already has a mechanism of an offered kind that
    ///   is not replaced, and ``AuthenticatorError/Code/policyViolation`` when the device violates a policy of the enrollment; in
    ///   both cases no request is sent. ``AuthenticatorError/Code/refusedByServer``,
    ///   ``AuthenticatorError/Code/registeredNotStored``.
    public func enroll(
        _ enrollment: Enrollment, pushGateway: Endpoint? = nil, replacing: Set<String> = []
    ) async throws -> EnrolledAccount {
        var offer = try await store.fetch(.offer(of: enrollment, replacing: replacing, now: clock.now))
        if let policy = await policies.violated(enrollment.policies) { throw AuthenticatorError.violated(policy) }
        if let invitation = enrollment.push, let uid = offer.push?.uid {
            offer.add(try await register(invitation, as: uid, token: offer.token, gateway: pushGateway))
        }
        let enrolled: EnrolledAccount
        do {
            enrolled = try await store.perform(.enroll(enrollment, offer))
        } catch let error as StoreError where offer.push != nil {
            throw AuthenticatorError.registeredNotStored(error)
        } catch {
            if let uid = offer.push?.uid { pendingWrites.set(nil, of: uid) }
            throw error
        }
        if let uid = offer.push?.uid { pendingWrites.set(nil, of: uid) }
        return EnrolledAccount(
            account: enrolled.account, mechanisms: enrolled.mechanisms, lock: await policies.lock(on: enrolled.account))
    }

    /// Returns the enrollment under the first of the `AccountID.alternatives` of its account that has no mechanism of an offered
    /// kind.
    ///
    /// An alternative that already has one of the offered secrets is returned too, so that ``enroll(_:pushGateway:replacing:)``
    /// refuses the duplicate.
    /// - Returns: The enrollment; unchanged when no alternative is free.
    package func withFreeName(_ enrollment: Enrollment) async throws(StoreError) -> Enrollment {
        let offered = enrollment.kinds
        let names = Set(offered.map(Mechanism.KindName.init))
        for id in enrollment.account.alternatives {
            let held = try await store.fetch(.mechanisms(of: id)).filter { names.contains($0.kindName) }
            let isKnown = held.contains { mechanism in offered.contains { $0.hasSameSecret(as: mechanism.kind) } }
            guard held.isEmpty || isKnown else { continue }
            var named = enrollment
            named.account = id
            return named
        }
        return enrollment
    }

    /// Registers the device for push at the server.
    ///
    /// A registration that an earlier call made and could not store is reused; its token may be another one.
    private func register(
        _ invitation: PushInvitation, as uid: String, token: String?, gateway: Endpoint?
    ) async throws -> PendingWrites.Registration {
        if let registration = pendingWrites.registration(of: uid) { return registration }
        let platform = try platforms.named(invitation.platform)
        guard gateway == nil || !(platform is any PolledPushPlatform) else {
            throw AuthenticatorError(
                .notSupported, "\(invitation.registrationEndpoint.host) is asked for messages; a push gateway cannot receive them"
            )
        }
        let device = try gateway == nil ? device.called(token) : device.at(PushInbox(of: invitation.secret))
        let result = try await NotSent.unwrapped {
            try await platform.registration(for: invitation, mechanismUID: uid, device: device, over: pushTransport)
        }
        let registration = PendingWrites.Registration(result: result, token: token, gateway: gateway)
        pendingWrites.set(registration, of: uid)
        return registration
    }
}

/// The mechanisms that an enrollment offers, and the device token for its server.
struct EnrollmentOffer: Sendable {
    /// The mechanism that generates codes.
    let oath: Mechanism?
    /// The mechanism that receives push messages.
    private(set) var push: Mechanism?
    /// The stored device token; after the registration for push, the token that the server was given.
    var token: String?
    /// The time of the enrollment.
    let time: Date
    /// The ids of the mechanisms that may be replaced.
    private let replacing: Set<String>

    /// Both mechanisms, as far as they are offered.
    var mechanisms: [Mechanism] { [oath, push].compactMap { $0 } }

    init(_ enrollment: Enrollment, replacing: Set<String>, now: Date) {
        time = now
        self.replacing = replacing
        func mechanism(_ kind: Mechanism.Kind, _ uid: String, _ resourceID: String?) -> Mechanism {
            Mechanism(
                uid: uid, account: enrollment.account, kind: kind, timeAdded: now, userID: enrollment.userID,
                resourceID: resourceID)
        }
        oath = enrollment.oath.map { mechanism(.oath($0), RandomID.uuid(), enrollment.oathResourceID) }
        push = enrollment.push.flatMap { invitation in
            enrollment.pushMechanismUID.map { mechanism(.push(PushSettings(invitation)), $0, invitation.resourceID) }
        }
    }

    /// Divides the mechanisms of the account into those that the offered ones replace, and those that stay.
    /// - Throws: ``AuthenticatorError/Code/duplicateMechanism`` when an offered mechanism has the kind of one that stays;
    ///   `StoreError` when a mechanism to replace cannot be read, so that it never stays beside the new one.
    func division(of account: AccountID, in records: any AccountReader) throws -> (replaced: [Mechanism], kept: [Mechanism]) {
        let kinds = Set(mechanisms.map(\.kindName))
        let named = try replacing.sorted().compactMap { uid in try records.mechanism(uid) }
        let replaced = named.filter { $0.account == account && kinds.contains($0.kindName) }
        let uids = Set(replaced.map(\.uid))
        let kept = try records.mechanisms(of: account).filter { !uids.contains($0.uid) }
        try mechanisms.refuseDuplicates(among: kept)
        return (replaced, kept)
    }

    /// Adds the addresses and keys that the registration at the server has returned, and the token that the server was given.
    mutating func add(_ registration: PendingWrites.Registration) {
        token = registration.token
        guard case .push(var settings) = push?.kind else { return }
        settings.streamEndpoint = registration.result.streamEndpoint
        settings.serverKey = registration.result.serverKey
        if let secret = registration.result.secret { settings.secret = secret }
        settings.gatewayEndpoint = registration.gateway
        push?.kind = .push(settings)
    }
}

extension Enrollment {
    /// The mechanisms that the enrollment offers: the one for codes first.
    package var kinds: [Mechanism.Kind] {
        [oath.map { .oath($0) }, push.map { .push(PushSettings($0)) }].compactMap { $0 }
    }
}

extension PushSettings {
    package init(_ invitation: PushInvitation) {
        self.init(
            secret: invitation.secret, registrationEndpoint: invitation.registrationEndpoint,
            authenticationEndpoint: invitation.authenticationEndpoint, loadBalancerCookie: invitation.loadBalancerCookie,
            platform: invitation.platform == AccessManagerPlatform.name ? nil : invitation.platform)
        requiresPresence = invitation.requiresPresence
    }
}

extension PushDevice {
    /// Returns a copy of the device with `token` as its token, or the device unchanged when `token` is nil.
    func called(_ token: String?) -> PushDevice {
        guard let token else { return self }
        var device = self
        device.token = token
        return device
    }
}
