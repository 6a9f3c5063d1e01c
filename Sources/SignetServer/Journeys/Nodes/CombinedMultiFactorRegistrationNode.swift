/// A node that shows one QR code for the registration of push and one-time codes, and waits for the device.
struct CombinedMultiFactorRegistrationNode: Node {
    static let type = NodeType(
        "CombinedMultiFactorRegistrationNode", "Combined MFA Registration",
        "Shows one QR code for push and one-time codes and waits for the device."
    ) { Self(registration: PushRegistrationNode(withOATH: true, style: $0.enrollmentStyle(withCodes: true, withPush: true))) }

    var registration: PushRegistrationNode

    var outcomes: [NodeOutcome] { registration.outcomes }
    var interaction: Interaction { registration.interaction }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        try registration.process(answers, &journey, &tx)
    }
}
