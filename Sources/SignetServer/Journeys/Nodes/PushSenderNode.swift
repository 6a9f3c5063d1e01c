import SignetCore

/// A node that sends a push message to the user's device.
struct PushSenderNode: Node {
    static let type = NodeType(
        "PushAuthenticationSenderNode", "Push Sender",
        "Sends a message to the user's device. In contrast to AM, a user cannot skip it."
    ) { decoder in
        let types: KeyValuePairs<String, PushType> = ["DEFAULT": .tap, "CHALLENGE": .number, "BIOMETRIC": .biometric]
        return Self(
            pushType: decoder.choice("pushType", "DEFAULT", types) ?? .tap,
            message: decoder.localizedText("userMessage", Self().message), includesContext: decoder.bool("contextInfo", false),
            payload: decoder.optionalStrings("customPayload") ?? [],
            lifetime: decoder.optionalInteger("messageTimeout", in: 1000...86_400_000, default: "the server's `pushTimeout`")
                .map { $0 / 1000 })
    }

    enum PushType: Sendable, Hashable {
        case tap
        case number
        case biometric
    }

    var pushType = PushType.tap
    /// The text on the device.
    ///
    /// The placeholders `{{user}}` and `{{issuer}}` are replaced.
    var message: LocalizedText = "Login attempt from {{user}} at {{issuer}}"
    /// True when the message contains the user agent that started the login, and the address of the client.
    var includesContext = false
    /// The names of collected attributes that the message also contains.
    var payload: [String] = []
    /// The lifetime in seconds; nil for the server's.
    var lifetime: Int?

    var outcomes: [NodeOutcome] { [.sent, .notRegistered] }
    var ignoredOutcomes: [NodeOutcome] { [.skipped] }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        guard let user = journey.user, let device = try tx.devices.pushDevice(of: user) else {
            return .transition(.notRegistered)
        }
        let text = tx.text(message).replacing("{{user}}", with: user.name)
            .replacing("{{issuer}}", with: tx.time.configuration.issuer)
        let prompt = PushPrompt(
            kind: kind(), text: text, customPayload: customPayload(journey),
            contextInfo: includesContext ? Self.contextInfo(journey.userAgent, tx.request?.address) : nil, lifetime: lifetime)
        switch try tx.sendPush(prompt, to: user, on: device, until: journey.expiresAt) {
        case .sent(let push): journey.pushMessageID = push.messageID
        case .refused(let reason): return .fail(reason)
        }
        return .transition(.sent)
    }

    /// Returns the attributes in ``payload`` as JSON; nil when none of them were collected.
    private func customPayload(_ journey: JourneyState) -> String? {
        let members = payload.compactMap { name in
            (name == "username" ? journey.username.map { .string($0) } : journey.attributes[name]).map { (name, $0) }
        }
        guard !members.isEmpty else { return nil }
        return JSON.text(of: .object(Dictionary(members, uniquingKeysWith: { _, last in last })))
    }

    /// Returns the kind of the message.
    ///
    /// A number message has three different two-digit numbers, of which ``PushMessageRecord`` selects the correct one.
    private func kind() -> PushKind {
        switch pushType {
        case .tap: .tap
        case .biometric: .biometric
        case .number: .number(choices: Array((10...99).shuffled().prefix(3)))
        }
    }

    /// Returns the context of the login for the user, as the JSON of the claim `x`; nil when nothing is known.
    ///
    /// AM's member for the address is `remoteIp`. A client in this process has no address, and that of a socket can be empty.
    private static func contextInfo(_ userAgent: String?, _ address: String?) -> String? {
        let members = Dictionary(texts: ["userAgent": userAgent, "remoteIp": address == "" ? nil : address])
        return members.isEmpty ? nil : JSON.text(of: .object(members))
    }
}
