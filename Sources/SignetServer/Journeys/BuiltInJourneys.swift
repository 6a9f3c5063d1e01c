/// The journeys that every desk server has.
extension JourneyTree {
    static let builtIn: [JourneyTree] = [
        login, pushRegistration, combinedRegistration, oathRegistration, oathLogin, push("PushLogin", .tap),
        push("PushNumberLogin", .number), push("PushBiometricLogin", .biometric),
    ]

    /// The journey of a request that names none.
    static let standard = "Login"

    private static let login = afterPassword("Login", then: .success, [:])

    private static let pushRegistration = afterPassword(
        "PushRegistration", then: .node("register"),
        ["register": JourneyNode(PushRegistrationNode(), [.success: .success, .failure: .failure, .timeOut: .failure])])

    private static let combinedRegistration = afterPassword(
        "CombinedRegistration", then: .node("register"),
        [
            "register": JourneyNode(
                PushRegistrationNode(withOATH: true), [.success: .success, .failure: .failure, .timeOut: .failure])
        ])

    private static let oathRegistration = afterPassword(
        "OATHRegistration", then: .node("register"),
        codeNodes(onSuccess: .node("store")).merging([
            "register": JourneyNode(OATHRegistrationNode(), [.success: .node("code"), .failure: .failure]),
            "store": JourneyNode(OATHDeviceStorageNode(), [.success: .success, .failure: .failure]),
        ]) { $1 })

    private static let oathLogin = afterPassword("OATHLogin", then: .node("code"), codeNodes(onSuccess: .success))

    private static func push(_ name: String, _ type: PushSenderNode.PushType) -> JourneyTree {
        afterPassword(
            name, then: .node("send"),
            [
                "send": JourneyNode(PushSenderNode(type: type), [.sent: .node("wait"), .notRegistered: .failure]),
                "wait": JourneyNode(PushWaitNode(), [.done: .node("verify")]),
                "verify": JourneyNode(
                    PushResultVerifierNode(),
                    [.success: .success, .failure: .failure, .expired: .failure, .waiting: .node("wait")]),
            ])
    }

    /// A page for name and password, then what `target` names.
    private static func afterPassword(_ name: String, then target: NodeTarget, _ nodes: [String: JourneyNode]) -> JourneyTree {
        let password = [
            "page": JourneyNode(PageNode(collectors: [.username, .password]), [.outcome: .node("password")]),
            "password": JourneyNode(DataStoreDecisionNode(), [.isTrue: target, .isFalse: .failure]),
        ]
        return JourneyTree(name, entry: "page", nodes: password.merging(nodes) { $1 })
    }

    /// A code, three times if need be.
    private static func codeNodes(onSuccess target: NodeTarget) -> [String: JourneyNode] {
        [
            "code": JourneyNode(
                OATHTokenVerifierNode(), [.success: target, .failure: .node("attempts"), .notRegistered: .failure]),
            "attempts": JourneyNode(RetryLimitDecisionNode(attempts: 3), [.retry: .node("code"), .reject: .failure]),
        ]
    }
}
