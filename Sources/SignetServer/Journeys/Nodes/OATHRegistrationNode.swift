import SignetCore

/// A node that shows the QR code for the registration of one-time codes.
///
/// It saves the device when the user continues. With postponed storage, ``OATHDeviceStorageNode`` saves it after
/// ``OATHTokenVerifierNode`` has verified a code.
struct OATHRegistrationNode: Node {
    static let type = NodeType(
        "OathRegistrationNode", "OATH Registration", "Shows the QR code for one-time codes and saves the device."
    ) { decoder in
        Self(
            style: decoder.enrollmentStyle(withCodes: true, withPush: false),
            postponesStorage: decoder.bool("postponeDeviceProfileStorage", false))
    }

    var style = EnrollmentStyle()
    /// True when another node saves the device.
    var postponesStorage = false

    var outcomes: [NodeOutcome] { [.successOutcome, .failureOutcome] }
    var interaction: Interaction { .ownPage }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        guard let user = journey.user, try tx.directory.contains(user) else { return .transition(.failureOutcome) }
        if answers != nil, let device = journey.pendingOATH {
            if style.generatesRecoveryCodes { journey.recoveryCodes = RecoveryCodes.new(for: .oath, "OATH Device") }
            if !postponesStorage {
                try tx.save(device, of: user, journey.recoveryCodes)
                journey.pendingOATH = nil
            }
            return .transition(.successOutcome)
        }
        let device = style.newOATHDevice()
        journey.pendingOATH = device
        let configuration = tx.time.configuration
        let enrollment = Enrollment(
            account: AccountID(issuer: style.issuer ?? configuration.issuer, accountName: user.name),
            oath: device.verifier.settings, oathResourceID: device.resourceID, userID: user.name, imageURL: style.imageURL,
            backgroundColor: style.backgroundColor ?? configuration.backgroundColor)
        let message =
            style.message.map { tx.text($0) }
            ?? "Scan the QR code, or open the link, with your authenticator. Then continue"
            + (postponesStorage ? ", and enter the code that it shows." : ".")
        return .prompt(.enrollment(message, uri: EnrollmentURI.print(enrollment), .confirmation("Next")))
    }
}
