import SignetCore

/// Shows a QR code's content for one-time codes. The device is saved when the person goes on, unless that is left to
/// ``OATHDeviceStorageNode``, after ``OATHTokenVerifierNode`` has seen a code of it.
struct OATHRegistrationNode: NodeKind {
    var style = EnrollmentStyle()
    /// Whether another node saves the device.
    var postponesStorage = false

    var name: String { "OathRegistrationNode" }
    var outcomes: [NodeOutcome] { [.successOutcome, .failureOutcome] }
    var asking: NodeInteraction { .alone }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        guard let user = journey.user, tx.directory.contains(user) else { return .leave(.failureOutcome) }
        if visit.answers != nil, let device = journey.pendingOATH {
            if style.generatesRecoveryCodes { journey.recoveryCodes = RecoveryCodes.new(for: .oath, "OATH Device") }
            if !postponesStorage {
                tx.save(device, of: user, journey.recoveryCodes, visit.moment)
                journey.pendingOATH = nil
            }
            return .leave(.successOutcome)
        }
        let device = style.newOATHDevice()
        journey.pendingOATH = device
        let configuration = visit.moment.configuration
        let enrollment = Enrollment(
            account: AccountID(issuer: style.issuer ?? configuration.issuer, accountName: user.name),
            oath: device.verifier.settings, oathResourceID: device.resourceID, userID: user.name, imageURL: style.imageURL,
            backgroundColor: style.backgroundColor ?? configuration.backgroundColor)
        let message =
            style.message ?? "Scan the QR code, or open the link, with your authenticator. Then enter the code that it shows."
        return .ask(.enrollment(message, uri: EnrollmentURI.print(enrollment), .confirmation("Next")))
    }
}

/// Saves the device that ``OATHRegistrationNode`` made.
struct OATHDeviceStorageNode: NodeKind {
    var name: String { "OathDeviceStorageNode" }
    var outcomes: [NodeOutcome] { [.successOutcome, .failureOutcome] }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        guard let user = journey.user, let device = journey.pendingOATH else { return .leave(.failureOutcome) }
        tx.save(device, of: user, journey.recoveryCodes, visit.moment)
        journey.pendingOATH = nil
        return .leave(.successOutcome)
    }
}

/// Asks for a one-time code and checks it: that of the device being registered, if there is one, otherwise of the user's.
struct OATHTokenVerifierNode: NodeKind {
    var prompt = "Enter verification code"
    /// How many time steps before and after the present one are looked at.
    var timeSteps = 2
    /// How many counters ahead are looked at.
    var counters = 100
    var allowsRecoveryCode = false

    var name: String { "OathTokenVerifierNode" }
    var outcomes: [NodeOutcome] {
        [.successOutcome, .failureOutcome, .notRegisteredOutcome] + (allowsRecoveryCode ? [.recoveryCodeOutcome] : [])
    }
    var asking: NodeInteraction { .once }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        guard let user = journey.user, var device = journey.pendingOATH ?? tx.devices.oathDevice(of: user) else {
            return .leave(.notRegisteredOutcome)
        }
        guard let answers = visit.answers else {
            let buttons = allowsRecoveryCode ? [JourneyCallback.confirmation(["Submit", "Use Recovery Code"], default: 0)] : []
            return .ask(Page(callbacks: [.name(prompt: prompt)] + buttons))
        }
        if allowsRecoveryCode, answers.number(1) == 1 { return .leave(.recoveryCodeOutcome) }
        if let refusal = tx.guess(of: user, visit.moment) { return .refuse(refusal) }
        let code = answers.text(0).filter { !$0.isWhitespace }
        device.verifier = device.verifier.looking(timeWindow: timeSteps, counterWindow: counters)
        guard device.verifier.verify(code, at: visit.moment.now) == .accepted else { return .leave(.failureOutcome) }
        if journey.pendingOATH == nil {
            tx.devices.save(device, for: user)
        } else {
            journey.pendingOATH = device
        }
        return .leave(.successOutcome)
    }
}

extension ServerTransaction {
    /// Saves a device for one-time codes, and the recovery codes that stand in for it.
    fileprivate mutating func save(_ device: OATHDevice, of user: UserKey, _ codes: RecoveryCodes?, _ moment: RequestTime) {
        var device = device
        device.registeredAt = moment.now
        devices.save(device, for: user)
        // Those of another device of the same journey are that one's.
        devices.keep(codes?.kind == .oath ? codes : nil, for: .oath, of: user)
    }
}

/// What an enrolment's QR code says, and how its page looks: what registration nodes have in common.
struct EnrollmentStyle: Sendable {
    /// Nil for the server's.
    var issuer: String?
    /// Hexadecimal digits; nil for the server's.
    var backgroundColor: String?
    var imageURL: String?
    /// What the page says; nil for the node's own words.
    var message: String?
    /// How many seconds a device has to register for push; nil for the server's.
    var timeout: Int?
    var generatesRecoveryCodes = true
    var usesCounter = false
    var digits = OTPDigits.six
    var algorithm = OTPAlgorithm.sha1
    var period = OTPPeriod.thirtySeconds
    /// In bytes.
    var secretLength = 20

    func newOATHDevice() -> OATHDevice {
        let factor: MovingFactor = usesCounter ? .counter(next: 0) : .time(period: period)
        let settings = OATHSettings(
            secret: Secret.random(byteCount: secretLength), algorithm: algorithm, digits: digits, factor: factor)
        return OATHDevice(verifier: OATHVerifier(settings: settings), resourceID: RandomID.uuid())
    }
}
