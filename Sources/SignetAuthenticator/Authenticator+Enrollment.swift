public import SignetCore
import SignetNetwork
import SignetStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Authenticator {
    /// Enrolls the account of an enrollment URI; see ``enroll(_:pushGateway:)``.
    /// - Throws: `EnrollmentError` when the URI is invalid, and the errors of ``enroll(_:pushGateway:)``.
    public func enroll(
        uri: String, policy: EndpointPolicy = .secure, pushGateway: Endpoint? = nil
    ) async throws -> EnrolledAccount {
        try await enroll(EnrollmentURI.parse(uri, policy: policy), pushGateway: pushGateway)
    }

    /// Enrolls an account: registers the device for push if the enrollment has a push invitation, then stores the account and its
    /// mechanisms in one transaction. When any step fails nothing is stored, and the same enrollment can be tried again.
    ///
    /// When the store fails after the server has registered the device, the call throws
    /// ``AuthenticatorError/Code/registeredNotStored``. The device gets the same mechanism id each time the same push invitation
    /// is enrolled. This authenticator therefore stores the mechanism on the next attempt without another request to the server.
    /// Another authenticator registers the mechanism again, as the same device, for as long as the server accepts the invitation.
    ///
    /// A server that sends push messages only to phones, as AM does, is given the address of an inbox at `pushGateway` instead of a
    /// phone's token, and ``PushStreamListener`` connects there (docs/guides/push.md). A server with its own push stream needs no push
    /// gateway.
    ///
    /// An account that is already stored keeps its names, its lock, its creation time and its other mechanisms.
    /// - Parameters:
    ///   - enrollment: The enrollment to carry out.
    ///   - pushFront: The push gateway that receives the messages of a server without a push stream; nil for no gateway.
    /// - Throws: ``AuthenticatorError/Code/duplicateMechanism`` when the account already has a mechanism of an offered kind, and
    ///   ``AuthenticatorError/Code/policyViolation`` when the device violates a policy of the enrollment; in both cases no
    ///   request is sent. ``AuthenticatorError/Code/refusedByServer``, ``AuthenticatorError/Code/registeredNotStored``.
    public func enroll(_ enrollment: Enrollment, pushGateway: Endpoint? = nil) async throws -> EnrolledAccount {
        guard enrollment.oath != nil || enrollment.push != nil else { throw AuthenticatorError.nothingOffered }
        let offered = offers(of: enrollment)
        let (duplicate, token) = try await store.read { (records: any AccountReader) throws(StoreError) in
            (try AccountRules.duplicate(of: offered, in: records), try records.deviceToken()?.token)
        }
        if let duplicate { throw AuthenticatorError.duplicate(duplicate) }
        if let policy = await policies.violated(enrollment.policies) { throw AuthenticatorError.violated(policy) }
        guard let invitation = enrollment.push else { return try await keep(enrollment, offered, toldToken: token) }
        let registered = try await registered(offered, invitation, token: token, gateway: pushGateway)
        do {
            // An earlier call may have registered the mechanism under another token.
            let told = registered.last.flatMap { unsettled.registration($0.uid) }?.token
            let enrolled = try await keep(enrollment, registered, toldToken: told)
            if let uid = registered.last?.uid { unsettled.forgetRegistration(uid) }
            return enrolled
        } catch let error as StoreError {
            throw AuthenticatorError.registeredNotStored(error)
        } catch {
            if let uid = registered.last?.uid { unsettled.forgetRegistration(uid) }
            throw error
        }
    }

    /// Stores an account and its mechanisms.
    /// - Parameter token: The stored device token that the server was given at registration; nil when no token was stored.
    private func keep(
        _ enrollment: Enrollment, _ mechanisms: [Mechanism], toldToken token: String?
    ) async throws -> EnrolledAccount {
        let now = clock.now
        let pushUID = enrollment.pushMechanismUID
        let enrolled: Result<EnrolledAccount, AuthenticatorError> = try await store.write {
            (records: any AccountWriter) throws(StoreError) in
            let outcome = try AccountRules.enroll(enrollment, mechanisms: mechanisms, now: now, in: records)
            if let pushUID, case .success = outcome { try AccountRules.noteTold(pushUID, token, in: records) }
            return outcome
        }
        let account = try enrolled.get()
        return EnrolledAccount(
            account: account.account, mechanisms: account.mechanisms, lock: await policies.lock(on: account.account))
    }

    /// Returns the mechanisms that an enrollment offers, with the push mechanism last.
    private func offers(of enrollment: Enrollment) -> [Mechanism] {
        let now = clock.now
        func mechanism(_ kind: Mechanism.Kind, uid: String, resourceID: String?) -> Mechanism {
            Mechanism(
                uid: uid, account: enrollment.account, kind: kind, timeAdded: now, userID: enrollment.userID,
                resourceID: resourceID)
        }
        var mechanisms: [Mechanism] = []
        if let oath = enrollment.oath {
            mechanisms.append(mechanism(.oath(oath), uid: RandomID.uuid(), resourceID: enrollment.oathResourceID))
        }
        if let push = enrollment.push, let uid = enrollment.pushMechanismUID {
            mechanisms.append(mechanism(.push(PushSettings(push)), uid: uid, resourceID: push.resourceID))
        }
        return mechanisms
    }

    /// Returns the mechanisms with the push mechanism registered at its server. A registration that an earlier call made and
    /// could not store is reused.
    private func registered(
        _ mechanisms: [Mechanism], _ invitation: PushInvitation, token: String?, gateway: Endpoint?
    ) async throws -> [Mechanism] {
        guard var push = mechanisms.last, case .push(var settings) = push.kind else { return mechanisms }
        if let registration = unsettled.registration(push.uid) {
            settings.streamEndpoint = registration.stream
            settings.gatewayEndpoint = registration.gateway
        } else {
            let uid = push.uid
            let platform = try platforms.named(invitation.platform)
            let device = try gateway == nil ? device.called(token) : device.at(PushInbox(of: invitation.secret))
            settings.gatewayEndpoint = gateway
            settings.streamEndpoint = try await NotSent.unwrapped {
                try await platform.register(invitation, mechanismUID: uid, device: device, over: wire)
            }
            unsettled.note(Unsettled.Registration(stream: settings.streamEndpoint, token: token, gateway: gateway), of: uid)
        }
        push.kind = .push(settings)
        return mechanisms.dropLast() + [push]
    }
}

extension PushSettings {
    package init(_ invitation: PushInvitation) {
        self.init(
            secret: invitation.secret, registrationEndpoint: invitation.registrationEndpoint,
            authenticationEndpoint: invitation.authenticationEndpoint, loadBalancerCookie: invitation.loadBalancerCookie,
            platform: invitation.platform == AccessManagerPlatform.name ? nil : invitation.platform)
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
