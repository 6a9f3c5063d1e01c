/// The journeys that every desk server has.
extension JourneyTree {
    static let builtIn: [JourneyTree] =
        [
            login, registration, emailLogin, questionLogin, pushRegistration, combinedRegistration, oathRegistration, oathLogin,
            push("PushLogin", .tap), push("PushNumberLogin", .number), push("PushBiometricLogin", .biometric),
            checked("DeviceBinding", DeviceBindingNode()), checked("DeviceSigning", DeviceSigningVerifierNode()),
            JourneyTree("DeviceLogin", entry: "sign", nodes: ["sign": node(DeviceSigningVerifierNode())]),
            checked("WebAuthnRegistration", WebAuthnRegistrationNode()), checked("WebAuthnLogin", WebAuthnAuthenticationNode()),
            checked("WebAuthnRegistration70", WebAuthnRegistrationNode(form: .legacy)),
            checked("WebAuthnLogin70", WebAuthnAuthenticationNode(form: .legacy)),
            checked("WebAuthnRegistration65", WebAuthnRegistrationNode(form: .script)),
            checked("WebAuthnLogin65", WebAuthnAuthenticationNode(form: .script)),
            checked("PassThrough", PassThroughNode()), checked("Locked", RefusalNode(refusal: .lockedOut)),
            checked("PolicyFailure", RefusalNode(refusal: .policyFailure("mail", [.required, .emailAddress]))),
            checked("Failure", RetryLimitDecisionNode(attempts: 1)),
        ] + CallbackCatalogue.trees

    /// The journey of a request that names none.
    static let standard = "Login"

    private static let login = afterPassword("Login", (.success, [:]))

    /// Somebody new: the page has a validated name and password, attributes, a question and terms.
    private static let registration = JourneyTree(
        "Registration", entry: "page",
        nodes: [
            "page": JourneyNode(
                PageNode(
                    collectors: [
                        NewCredentialCollector.username, NewCredentialCollector.password,
                        AttributeCollector(
                            attribute: "givenName", prompt: "First Name", policies: [.required]),
                        AttributeCollector(
                            attribute: "mail", prompt: "Email Address", policies: [.required, .emailAddress]),
                        SecurityQuestionsCollector(), TermsCollector(),
                    ], stage: "Registration", header: "Sign Up", description: "Tell us who you are"),
                [.outcome: .node("create")]),
            "create": JourneyNode(CreateUserNode(), [.success: .success, .failure: .failure]),
        ])

    /// A name, and a link in a letter.
    private static let emailLogin = JourneyTree(
        "EmailLogin", entry: "name",
        nodes: [
            "name": JourneyNode(CollectorNode(collector: UsernameCollector()), [.outcome: .node("letter")]),
            "letter": JourneyNode(EmailSuspendNode(), [.outcome: .success]),
        ])

    /// A name, and the answer to one of the person's questions: three times if need be.
    private static let questionLogin = JourneyTree(
        "QuestionLogin", entry: "name",
        nodes: [
            "name": JourneyNode(CollectorNode(collector: UsernameCollector()), [.outcome: .node("question")]),
            "question": JourneyNode(SecurityQuestionNode(), [.isTrue: .success, .isFalse: .node("attempts")]),
            "attempts": JourneyNode(RetryLimitDecisionNode(attempts: 3), [.retry: .node("question"), .reject: .failure]),
        ])

    private static let pushRegistration = checked("PushRegistration", PushRegistrationNode())
    private static let combinedRegistration = checked("CombinedRegistration", PushRegistrationNode(withOATH: true))

    private static let oathRegistration = afterPassword(
        "OATHRegistration",
        (
            .node("register"),
            codeNodes(onSuccess: .node("store")).merging([
                "register": JourneyNode(OATHRegistrationNode(), [.success: .node("code"), .failure: .failure]),
                "store": node(OATHDeviceStorageNode()),
            ]) { $1 }
        ))

    private static let oathLogin = afterPassword("OATHLogin", (.node("code"), codeNodes(onSuccess: .success)))

    private static func push(_ name: String, _ type: PushSenderNode.PushType) -> JourneyTree {
        afterPassword(
            name,
            (
                .node("send"),
                [
                    "send": JourneyNode(PushSenderNode(type: type), [.sent: .node("wait"), .notRegistered: .failure]),
                    "wait": JourneyNode(PushWaitNode(), [.done: .node("verify")]),
                    "verify": JourneyNode(
                        PushResultVerifierNode(),
                        [.success: .success, .failure: .failure, .expired: .failure, .waiting: .node("wait")]),
                ]
            ))
    }

    /// A page for name and password, then one node that must succeed.
    private static func checked(_ name: String, _ kind: any NodeKind) -> JourneyTree {
        afterPassword(name, (.node("then"), ["then": node(kind)]))
    }

    /// A node of which only the outcome Success is one.
    private static func node(_ kind: any NodeKind) -> JourneyNode {
        let outcomes = kind.outcomes.map { ($0, $0 == .success ? NodeTarget.success : .failure) }
        return JourneyNode(kind, Dictionary(outcomes, uniquingKeysWith: { _, last in last }))
    }

    /// A page for name and password, then what `rest` begins with.
    static func afterPassword(_ name: String, _ rest: (target: NodeTarget, nodes: [String: JourneyNode])) -> JourneyTree {
        let password = [
            "page": JourneyNode(
                PageNode(collectors: [UsernameCollector(), PasswordCollector()]), [.outcome: .node("password")]),
            "password": JourneyNode(DataStoreDecisionNode(), [.isTrue: rest.target, .isFalse: .failure]),
        ]
        return JourneyTree(name, entry: "page", nodes: password.merging(rest.nodes) { $1 })
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
