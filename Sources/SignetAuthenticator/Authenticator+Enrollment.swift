public import SignetCore
import SignetNetwork
import SignetStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Authenticator {
    /// Enrols what a URI offers; see ``enroll(_:pushFront:)``.
    /// - Throws: `EnrollmentError` when the URI is refused, and what ``enroll(_:pushFront:)`` throws.
    public func enroll(
        uri: String, policy: EndpointPolicy = .secure, pushFront: Endpoint? = nil
    ) async throws -> EnrolledAccount {
        try await enroll(EnrollmentURI.parse(uri, policy: policy), pushFront: pushFront)
    }

    /// Enrols an account: registers for push if that is offered, then stores the account and its mechanisms in one
    /// transaction. When anything fails nothing is stored, and the same enrolment can be tried again.
    ///
    /// If it is the store that fails, after the server has registered the device, the error says so. The device has the same
    /// id whenever the same push invitation is enrolled: this authenticator then stores it without asking the server again, and
    /// another one registers it again, as the same device, for as long as the server takes the invitation.
    ///
    /// A server that sends push to phones only, as AM does, is told the address of a mailbox at `pushFront` in the place of a phone's
    /// token, and ``PushStreamListener`` listens there (docs/push.md). A server with a desk of its own needs no front.
    ///
    /// An account that is there already keeps its names, its lock, its time and its other mechanisms.
    /// - Parameters:
    ///   - enrollment: What is offered.
    ///   - pushFront: Where push messages of a server without a desk are taken; nil for nowhere.
    /// - Throws: ``AuthenticatorError/Code/duplicateMechanism`` when the account has a mechanism of an offered kind,
    ///   ``AuthenticatorError/Code/policyViolation`` when the device does not meet a policy that the enrolment carries; the
    ///   server is not asked in either case. ``AuthenticatorError/Code/refusedByServer``,
    ///   ``AuthenticatorError/Code/registeredNotStored``.
    public func enroll(_ enrollment: Enrollment, pushFront: Endpoint? = nil) async throws -> EnrolledAccount {
        guard enrollment.oath != nil || enrollment.push != nil else { throw AuthenticatorError.nothingOffered }
        let offered = offers(of: enrollment)
        let (duplicate, token) = try await store.read { (records: any AccountReader) throws(StoreError) in
            (try AccountRules.duplicate(of: offered, in: records), try records.deviceToken()?.token)
        }
        if let duplicate { throw AuthenticatorError.duplicate(duplicate) }
        if let policy = await policies.violated(enrollment.policies) { throw AuthenticatorError.violated(policy) }
        guard let invitation = enrollment.push else { return try await keep(enrollment, offered, toldToken: token) }
        let registered = try await registered(offered, invitation, token: token, front: pushFront)
        do {
            // It may have been registered by a call before this one, under another token.
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
    /// - Parameter token: The device's token that was stored when the server was told one.
    private func keep(
        _ enrollment: Enrollment, _ mechanisms: [Mechanism], toldToken token: String?
    ) async throws -> EnrolledAccount {
        let now = clock.now
        let pushUID = enrollment.pushMechanismUID
        let enrolled: Result<EnrolledAccount, AuthenticatorError> = try await store.write {
            (records: any AccountWriter) throws(StoreError) in
            let outcome = try AccountRules.enrol(enrollment, mechanisms: mechanisms, now: now, in: records)
            if let pushUID, case .success = outcome { try AccountRules.noteTold(pushUID, token, in: records) }
            return outcome
        }
        let account = try enrolled.get()
        return EnrolledAccount(
            account: account.account, mechanisms: account.mechanisms, lock: await policies.lock(on: account.account))
    }

    /// What an enrolment offers, push last.
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

    /// The mechanisms, the push one among them registered with its server: now, or before the store failed.
    private func registered(
        _ mechanisms: [Mechanism], _ invitation: PushInvitation, token: String?, front: Endpoint?
    ) async throws -> [Mechanism] {
        guard var push = mechanisms.last, case .push(var settings) = push.kind else { return mechanisms }
        if let registration = unsettled.registration(push.uid) {
            settings.streamEndpoint = registration.stream
            settings.gatewayEndpoint = registration.front
        } else {
            let uid = push.uid
            let platform = try platforms.named(invitation.platform)
            let device = try front == nil ? device.called(token) : device.at(PushMailbox(of: invitation.secret))
            settings.gatewayEndpoint = front
            settings.streamEndpoint = try await NotSent.unwrapped {
                try await platform.register(invitation, mechanismUID: uid, device: device, over: wire)
            }
            unsettled.note(Unsettled.Registration(stream: settings.streamEndpoint, token: token, front: front), of: uid)
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
    /// The same device under its stored token, if there is one.
    func called(_ token: String?) -> PushDevice {
        guard let token else { return self }
        var device = self
        device.token = token
        return device
    }
}
