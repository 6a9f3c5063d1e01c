public import SignetCore
import SignetNetwork
import SignetStorage

extension Authenticator {
    /// Enrols what a URI offers; see ``enroll(_:)-(Enrollment)``.
    /// - Throws: `EnrollmentError` when the URI is refused.
    public func enroll(uri: String, policy: EndpointPolicy = .secure) async throws -> EnrolledAccount {
        try await enroll(EnrollmentURI.parse(uri, policy: policy))
    }

    /// Enrols an account: registers for push if that is offered, then stores the account and its mechanisms in one
    /// transaction. When anything fails nothing is stored, and the same enrolment can be tried again for as long as the
    /// server takes it. If it is the store that fails, after the server has registered the device, the server takes it no
    /// longer: ask it for a new enrolment.
    ///
    /// An account that is there already keeps its names, its time and its other mechanisms.
    /// - Throws: ``AuthenticatorError/Code/duplicateMechanism`` when the account has a mechanism of an offered kind; the
    ///   server is not asked then.
    public func enroll(_ enrollment: Enrollment) async throws -> EnrolledAccount {
        guard enrollment.oath != nil || enrollment.push != nil else { throw AuthenticatorError.nothingOffered }
        var mechanisms: [Mechanism] = []
        if let oath = enrollment.oath {
            mechanisms.append(mechanism(.oath(oath), enrollment, resourceID: enrollment.oathResourceID))
        }
        if let push = enrollment.push {
            mechanisms.append(mechanism(.push(PushSettings(push)), enrollment, resourceID: push.resourceID))
        }
        let offered = mechanisms
        let duplicate = try await store.read { (records: any AccountReader) throws(StoreError) in
            try Self.duplicate(of: offered, in: records)
        }
        if let duplicate { throw AuthenticatorError.duplicate(duplicate) }
        if let invitation = enrollment.push, var last = mechanisms.popLast(), case .push(var settings) = last.kind {
            settings.deskEndpoint = try await register(invitation, mechanismUID: last.uid)
            last.kind = .push(settings)
            mechanisms.append(last)
        }
        return try await store(enrollment, mechanisms)
    }

    private func mechanism(_ kind: Mechanism.Kind, _ enrollment: Enrollment, resourceID: String?) -> Mechanism {
        Mechanism(
            uid: RandomID.uuid(), account: enrollment.account, kind: kind, timeAdded: clock.now, userID: enrollment.userID,
            resourceID: resourceID)
    }

    private func store(_ enrollment: Enrollment, _ mechanisms: [Mechanism]) async throws -> EnrolledAccount {
        let new = Account(
            id: enrollment.account, imageURL: enrollment.imageURL, backgroundColor: enrollment.backgroundColor,
            timeAdded: clock.now, policies: enrollment.policies)
        let outcome: Result<EnrolledAccount, AuthenticatorError> = try await store.write {
            (records: any AccountWriter) throws(StoreError) in
            if let duplicate = try Self.duplicate(of: mechanisms, in: records) { return .failure(.duplicate(duplicate)) }
            let account = try records.account(new.id)?.updated(from: new) ?? new
            try records.save(account)
            for mechanism in mechanisms { try records.save(mechanism) }
            return .success(EnrolledAccount(account: account, mechanisms: try records.mechanisms(of: account.id)))
        }
        return try outcome.get()
    }

    private static func duplicate(of offered: [Mechanism], in records: any AccountReader) throws(StoreError) -> Mechanism? {
        guard let account = offered.first?.account else { return nil }
        let kinds = Set(offered.map(\.kindName))
        return try records.mechanisms(of: account).first { kinds.contains($0.kindName) }
    }
}

extension Account {
    /// What a second enrolment changes: how the account looks, and the policies it names.
    fileprivate func updated(from new: Account) -> Account {
        var account = self
        account.imageURL = new.imageURL ?? imageURL
        account.backgroundColor = new.backgroundColor ?? backgroundColor
        account.policies.merge(new.policies) { _, new in new }
        return account
    }
}

extension PushSettings {
    fileprivate init(_ invitation: PushInvitation) {
        self.init(
            secret: invitation.secret, registrationEndpoint: invitation.registrationEndpoint,
            authenticationEndpoint: invitation.authenticationEndpoint, loadBalancerCookie: invitation.loadBalancerCookie)
    }
}
