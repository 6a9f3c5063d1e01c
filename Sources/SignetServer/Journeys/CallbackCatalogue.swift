import SignetCore

/// A journey for each callback that AM has: name and password, then the callback, then the session. `Everything` shows them all,
/// one after the other, for who writes a client. A callback that nothing can be checked of here, because only another system
/// could, is taken as it is answered.
enum CallbackCatalogue {
    /// The callbacks in the order of `Everything`, by their types.
    static let entries: [(type: String, node: any NodeKind)] = [
        (
            "TextInputCallback",
            CollectorNode(collector: TextCollector(attribute: "nickname", prompt: "Nickname", standard: "none"))
        ),
        ("ChoiceCallback", ChoiceCollectorNode(prompt: "Second factor", choices: ["Email", "SMS", "Push"], standard: 1)),
        ("ConfirmationCallback", MessageNode(message: "Go on?", messageType: 1)), ("TextOutputCallback", texts),
        ("HiddenValueCallback", scripted(.hidden(id: "clientError", value: "none"))),
        ("PollingWaitCallback", PollingWaitNode(seconds: 1, message: "One second", exit: "Skip")),
        ("MetadataCallback", metadata),
        ("ConsentMappingCallback", CollectorNode(collector: ConsentCollector(isRequired: true))),
        ("ValidatedCreateUsernameCallback", scripted(newUsername)), ("ValidatedCreatePasswordCallback", scripted(newPassword)),
        ("StringAttributeInputCallback", attribute("mail", "Email", .text, [.required, .emailAddress])),
        ("NumberAttributeInputCallback", attribute("age", "Age", .number, [.required, .minimum(18), .maximum(120)])),
        ("BooleanAttributeInputCallback", attribute("updates", "Send updates", .truth, [.required])),
        ("TermsAndConditionsCallback", CollectorNode(collector: TermsCollector())),
        ("KbaCreateCallback", CollectorNode(collector: SecurityQuestionsCollector())),
        ("SelectIdPCallback", scripted(selectProvider)), ("IdPCallback", scripted(provider)),
        ("RedirectCallback", scripted(redirect)), ("DeviceProfileCallback", CollectorNode(collector: DeviceProfileCollector())),
        ("AppIntegrityCallback", scripted(appIntegrity)), ("ReCaptchaCallback", scripted(captcha)),
        ("ReCaptchaEnterpriseCallback", scripted(enterpriseCaptcha)),
        ("PingOneProtectInitializeCallback", scripted(protectStart)),
        ("PingOneProtectEvaluationCallback", scripted(protectEvaluation)), ("NovelCallback", scripted(novel)),
    ]

    static let trees: [JourneyTree] =
        entries.map { entry in .afterPassword(entry.type, chain([entry])) } + [
            .afterPassword("Everything", chain(entries))
        ]

    /// The nodes one after the other, whatever their outcomes.
    private static func chain(
        _ entries: [(type: String, node: any NodeKind)]
    ) -> (target: NodeTarget, nodes: [String: JourneyNode]) {
        var target = NodeTarget.node("keep")
        var nodes = ["keep": JourneyNode(KeepCollectedNode(), [.outcome: .success])]
        for entry in entries.reversed() {
            let outcomes = Dictionary(entry.node.outcomes.map { ($0, target) }, uniquingKeysWith: { _, last in last })
            nodes[entry.type] = JourneyNode(entry.node, outcomes)
            target = .node(entry.type)
        }
        return (target, nodes)
    }

    private static func scripted(_ callbacks: JourneyCallback...) -> CollectorNode {
        CollectorNode(collector: ScriptedCollector(attribute: callbacks[0].type, shown: callbacks))
    }

    private static func attribute(
        _ name: String, _ prompt: String, _ kind: AttributeCollector.Kind, _ policies: [AttributePolicy]
    ) -> CollectorNode {
        CollectorNode(collector: AttributeCollector(attribute: name, prompt: prompt, kind: kind, policies: policies))
    }

    /// All four types of texts, and a callback after them: its input is the fifth.
    private static let texts = scripted(
        .text("For your information", type: 0), .text("A warning", type: 1), .text("An error", type: 2),
        .text("document.title = \"Signet\"", type: 4), .confirmation("Next"))

    /// A page of AM 6.5, which had its stage here.
    private static let metadata = scripted(
        .any("MetadataCallback", ["data": .object(["stage": .string("UsernamePassword")])]), .confirmation("Next"))

    private static let newUsername = NewCredentialCollector(kind: .username, policies: [.required, .minimumLength(3)])
        .example(failing: .minimumLength(3))

    private static let newPassword = NewCredentialCollector(kind: .password, policies: [.required, .minimumLength(8)])
        .example(failing: nil)

    private static let selectProvider = JourneyCallback.any(
        "SelectIdPCallback",
        [
            "providers": .array([
                .object([
                    "provider": .string("google"),
                    "uiConfig": .object(["buttonDisplayName": .string("Google"), "buttonClass": .string("")]),
                ]), .object(["provider": .string("apple"), "uiConfig": .object([:])]),
                .object(["provider": .string("localAuthentication")]),
            ]), "value": .string(""),
        ], ["": .string("")])

    private static let provider = JourneyCallback.any(
        "IdPCallback",
        [
            "provider": .string("google"), "clientId": .string("client"), "redirectUri": .string("https://app.example.test/cb"),
            "scopes": .texts(["openid"]), "nonce": .string("n-1"), "acrValues": .array([]), "request": .string(""),
            "requestUri": .string(""), "acceptsJSON": .bool(false),
        ], ["token": .string(""), "token_type": .string("")])

    private static let redirect = JourneyCallback.any(
        "RedirectCallback",
        [
            "redirectUrl": .string("https://idp.example.test/authorize?state=s-1"), "redirectMethod": .string("GET"),
            "trackingCookie": .bool(true),
        ])

    private static let appIntegrity = JourneyCallback.any(
        "AppIntegrityCallback", ["challenge": .string("c2FtcGxl"), "attestToken": .string("")],
        [
            "attestToken": .string(""), "token": .string(""), "clientData": .string(""), "keyId": .string(""),
            "clientError": .string(""),
        ])

    private static let captcha = JourneyCallback.any(
        "ReCaptchaCallback", ["recaptchaSiteKey": .string("6Lsite")], ["": .string("")])

    private static let enterpriseCaptcha = JourneyCallback.any(
        "ReCaptchaEnterpriseCallback",
        [
            "recaptchaSiteKey": .string("6Lsite"),
            "captchaApiUri": .string("https://www.google.com/recaptcha/enterprise.js"),
            "captchaDivClass": .string("g-recaptcha"),
        ], ["token": .string(""), "action": .string(""), "clientError": .string(""), "payload": .string("")])

    private static let protectStart = JourneyCallback.any(
        "PingOneProtectInitializeCallback",
        [
            "envId": .string("e-1"), "consoleLogEnabled": .bool(true), "deviceAttributesToIgnore": .array([]),
            "customHost": .string(""), "lazyMetadata": .bool(false), "behavioralDataCollection": .bool(true),
            "deviceKeyRsyncIntervals": .integer(14), "enableTrust": .bool(false), "disableTags": .bool(false),
            "disableHub": .bool(false), "agentIdentification": .bool(false), "agentTimeout": .integer(0),
            "agentPort": .string(""),
        ], ["clientError": .string("")])

    private static let protectEvaluation = JourneyCallback.any(
        "PingOneProtectEvaluationCallback", ["pauseBehavioralData": .bool(true)],
        ["signals": .string(""), "clientError": .string("")])

    /// A type that no client knows.
    private static let novel = JourneyCallback.any(
        "NovelCallback", ["prompt": .string("Something new"), "shape": .object(["sides": .array([.integer(3), .number(4.5)])])],
        ["": .string(""), "extra": .object(["deep": .null])])
}
