import SignetCore

/// A node that shows the QR code for the registration of one-time codes. It saves the device when the user continues. With
/// postponed storage, ``OATHDeviceStorageNode`` saves it after ``OATHTokenVerifierNode`` has verified a code.
struct OATHRegistrationNode: Node {
    var style = EnrollmentStyle()
    /// True when another node saves the device.
    var postponesStorage = false

    var name: String { "OathRegistrationNode" }
    var outcomes: [NodeOutcome] { [.successOutcome, .failureOutcome] }
    var interaction: Interaction { .ownPage }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        guard let user = journey.user, tx.directory.contains(user) else { return .transition(.failureOutcome) }
        if visit.answers != nil, let device = journey.pendingOATH {
            if style.generatesRecoveryCodes { journey.recoveryCodes = RecoveryCodes.new(for: .oath, "OATH Device") }
            if !postponesStorage {
                tx.save(device, of: user, journey.recoveryCodes, visit.moment)
                journey.pendingOATH = nil
            }
            return .transition(.successOutcome)
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
        return .prompt(.enrollment(message, uri: EnrollmentURI.print(enrollment), .confirmation("Next")))
    }
}

/// A node that saves the device of an ``OATHRegistrationNode``.
struct OATHDeviceStorageNode: Node {
    var name: String { "OathDeviceStorageNode" }
    var outcomes: [NodeOutcome] { [.successOutcome, .failureOutcome] }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        guard let user = journey.user, let device = journey.pendingOATH else { return .transition(.failureOutcome) }
        tx.save(device, of: user, journey.recoveryCodes, visit.moment)
        journey.pendingOATH = nil
        return .transition(.successOutcome)
    }
}

/// A node that asks for a one-time code and verifies it. It uses the device that is being registered, or else the user's
/// registered device.
struct OATHTokenVerifierNode: Node {
    var prompt = "Enter verification code"
    /// The number of time steps before and after the current one in which a code is accepted.
    var timeSteps = 2
    /// The number of counter values ahead in which a code is accepted.
    var counters = 100
    var allowsRecoveryCode = false

    var name: String { "OathTokenVerifierNode" }
    var outcomes: [NodeOutcome] {
        [.successOutcome, .failureOutcome, .notRegisteredOutcome] + (allowsRecoveryCode ? [.recoveryCodeOutcome] : [])
    }
    var interaction: Interaction { .embeddable }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        guard let user = journey.user, var device = journey.pendingOATH ?? tx.devices.oathDevice(of: user) else {
            return .transition(.notRegisteredOutcome)
        }
        guard let answers = visit.answers else {
            let buttons = allowsRecoveryCode ? [JourneyCallback.confirmation(["Submit", "Use Recovery Code"], default: 0)] : []
            return .prompt(Page(callbacks: [.name(prompt: prompt)] + buttons))
        }
        if allowsRecoveryCode, answers.number(1) == 1 { return .transition(.recoveryCodeOutcome) }
        if let refusal = tx.guess(of: user, visit.moment) { return .refuse(refusal) }
        let code = answers.text(0).filter { !$0.isWhitespace }
        device.verifier = device.verifier.looking(timeWindow: timeSteps, counterWindow: counters)
        guard device.verifier.verify(code, at: visit.moment.now) == .accepted else { return .transition(.failureOutcome) }
        if journey.pendingOATH == nil {
            tx.devices.save(device, for: user)
        } else {
            journey.pendingOATH = device
        }
        return .transition(.successOutcome)
    }
}

extension ServerTransaction {
    /// Saves an OATH device and its recovery codes.
    fileprivate mutating func save(_ device: OATHDevice, of user: UserKey, _ codes: RecoveryCodes?, _ moment: RequestTime) {
        var device = device
        device.registeredAt = moment.now
        devices.save(device, for: user)
        // Recovery codes of a different kind belong to another device that the same journey registered.
        devices.keep(codes?.kind == .oath ? codes : nil, for: .oath, of: user)
    }
}

/// The settings that the registration nodes share: the contents of the QR code and the text of the page.
struct EnrollmentStyle: Sendable {
    /// The issuer; nil for the server's.
    var issuer: String?
    /// The color in hexadecimal digits; nil for the server's.
    var backgroundColor: String?
    var imageURL: String?
    /// The text of the page; nil for the node's default.
    var message: String?
    /// The time in seconds for a push registration; nil for the server's.
    var timeout: Int?
    var generatesRecoveryCodes = true
    var usesCounter = false
    var digits = OTPDigits.six
    var algorithm = OTPAlgorithm.sha1
    var period = OTPPeriod.thirtySeconds
    /// The length of the secret in bytes.
    var secretLength = 20

    func newOATHDevice() -> OATHDevice {
        let factor: MovingFactor = usesCounter ? .counter(next: 0) : .time(period: period)
        let settings = OATHSettings(
            secret: Secret.random(byteCount: secretLength), algorithm: algorithm, digits: digits, factor: factor)
        return OATHDevice(verifier: OATHVerifier(settings: settings), resourceID: RandomID.uuid())
    }
}
