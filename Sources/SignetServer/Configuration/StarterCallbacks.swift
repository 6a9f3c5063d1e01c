/// The part of the starter file with a journey for each callback, for developers of clients.
enum StarterCallbacks {
    /// The callbacks in the order of `Everything`.
    static let types = [
        "TextInputCallback", "ChoiceCallback", "ConfirmationCallback", "TextOutputCallback", "HiddenValueCallback",
        "PollingWaitCallback", "MetadataCallback", "ConsentMappingCallback", "ValidatedCreateUsernameCallback",
        "ValidatedCreatePasswordCallback", "StringAttributeInputCallback", "NumberAttributeInputCallback",
        "BooleanAttributeInputCallback", "TermsAndConditionsCallback", "KbaCreateCallback", "SelectIdPCallback", "IdPCallback",
        "RedirectCallback", "DeviceProfileCallback", "AppIntegrityCallback", "ReCaptchaCallback", "ReCaptchaEnterpriseCallback",
        "PingOneProtectInitializeCallback", "PingOneProtectEvaluationCallback", "NovelCallback",
    ]

    static let text = known + types.map(journey).joined() + everything

    private static let known = #"""

          # A journey for each callback, with its name: name and password, then the callback. Answers that only another system could
          # verify are accepted as they are.

          # Name and password, unless this login has already asked for them.
          Known:
            innerTreeOnly: true
            nodes:
              asked:
                type: ScriptedDecisionNode
                table: [{when: {username: "*"}, outcome: known}]
                default: unknown
                outcomes: {known: success, unknown: login}
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: success, false: failure}}

        """#

    private static func journey(_ type: String) -> String {
        let node = (nodes[type] ?? "").split(separator: "\n").map { "        \($0)\n" }.joined()
        let keeps = kept.contains(type)
        return """

              \(type):
                nodes:
                  login: {type: InnerTreeEvaluatorNode, tree: Known, outcomes: {true: show, false: failure}}
                  show:
            \(node)        outcomes: {default: \(keeps ? "keep" : "success")}

            """ + (keeps ? savingNodes[type] ?? "" : "")
    }

    /// The callbacks whose answers are stored for the user.
    private static let kept: Set<String> = [
        "KbaCreateCallback", "TermsAndConditionsCallback", "StringAttributeInputCallback", "DeviceProfileCallback",
    ]

    private static let patch = "      keep: {type: PatchObjectNode, outcomes: {PATCHED: success, FAILURE: failure}}\n"
    private static let savingNodes = [
        "KbaCreateCallback": patch, "TermsAndConditionsCallback": patch, "StringAttributeInputCallback": patch,
        "DeviceProfileCallback": "      keep: {type: DeviceSaveNode, outcomes: {outcome: success}}\n",
    ]

    /// The nodes that show the callbacks.
    private static let nodes = [
        "TextInputCallback": "type: InputCollectorNode\nattribute: nickname\nprompt: Nickname\ndefaultText: none",
        "ChoiceCallback":
            "type: ChoiceCollectorNode\nprompt: Second factor\nchoices: [Email, SMS, Push]\ndefaultChoice: SMS",
        "ConfirmationCallback": "type: MessageNode\nmessage: Go on?\nmessageType: WARNING",
        "PollingWaitCallback":
            "type: PollingWaitNode\nsecondsToWait: 1\nwaitingMessage: One second\nexitable: true\nexitMessage: Skip",
        "ConsentMappingCallback": "type: ConsentNode\nallRequired: true",
        "StringAttributeInputCallback":
            "type: AttributeCollectorNode\nattributesToCollect: [mail]\nrequired: true\nvalidateInputs: true",
        "NumberAttributeInputCallback":
            "type: AttributeCollectorNode\nattributesToCollect: [age]\nrequired: true\nvalidateInputs: true",
        "BooleanAttributeInputCallback": "type: AttributeCollectorNode\nattributesToCollect: [updates]\nrequired: true",
        "TermsAndConditionsCallback": "type: AcceptTermsAndConditionsNode", "KbaCreateCallback": "type: KbaCreateNode",
        "DeviceProfileCallback": "type: DeviceProfileCollectorNode",
    ].merging(scripted.mapValues { "type: ScriptedDecisionNode\ncallbacks:\n" + $0 }) { $1 }

    /// The callbacks that a ``ScriptedDecisionNode`` shows as they are written here.
    private static let scripted = [
        "TextOutputCallback": #"""
          - {type: TextOutputCallback, output: {message: For your information, messageType: "0"}}
          - {type: TextOutputCallback, output: {message: A warning, messageType: "1"}}
          - {type: TextOutputCallback, output: {message: An error, messageType: "2"}}
          - {type: TextOutputCallback, output: {message: 'document.title = "Signet"', messageType: "4"}}
        """# + "\n" + next,
        "MetadataCallback": "  - {type: MetadataCallback, output: {data: {stage: UsernamePassword}}}\n" + next,
        "HiddenValueCallback":
            #"  - {type: HiddenValueCallback, output: {value: none, id: clientError}, input: {"": clientError}}"#,
        "ValidatedCreateUsernameCallback": #"""
          - type: ValidatedCreateUsernameCallback
            output:
              policies:
                policyRequirements: [REQUIRED, MIN_LENGTH]
                fallbackPolicies: null
                name: userName
                policies:
                  - {policyId: not-empty, policyRequirements: [REQUIRED]}
                  - {policyId: minimum-length, policyRequirements: [MIN_LENGTH], params: {minLength: 3}}
                conditionalPolicies: null
              failedPolicies: ['{"params":{"minLength":3},"policyRequirement":"MIN_LENGTH"}']
              validateOnly: false
              prompt: Username
              value: ""
            input: {"": "", validateOnly: false}
        """#,
        "ValidatedCreatePasswordCallback": #"""
          - type: ValidatedCreatePasswordCallback
            output:
              echoOn: false
              policies:
                policyRequirements: [REQUIRED, MIN_LENGTH]
                fallbackPolicies: null
                name: password
                policies:
                  - {policyId: not-empty, policyRequirements: [REQUIRED]}
                  - {policyId: minimum-length, policyRequirements: [MIN_LENGTH], params: {minLength: 8}}
                conditionalPolicies: null
              failedPolicies: []
              validateOnly: false
              prompt: Password
            input: {"": "", validateOnly: false}
        """#,
        "SelectIdPCallback": #"""
          - type: SelectIdPCallback
            output:
              providers:
                - {provider: google, uiConfig: {buttonDisplayName: Google, buttonClass: ""}}
                - {provider: apple, uiConfig: {}}
                - {provider: localAuthentication}
              value: ""
            input: {"": ""}
        """#,
        "IdPCallback": #"""
          - type: IdPCallback
            output:
              provider: google
              clientId: client
              redirectUri: https://app.example.test/cb
              scopes: [openid]
              nonce: n-1
              acrValues: []
              request: ""
              requestUri: ""
              acceptsJSON: false
            input: {token: "", token_type: ""}
        """#,
        "RedirectCallback": #"""
          - type: RedirectCallback
            output: {redirectUrl: "https://idp.example.test/authorize?state=s-1", redirectMethod: GET, trackingCookie: true}
        """#,
        "AppIntegrityCallback": #"""
          - type: AppIntegrityCallback
            output: {challenge: c2FtcGxl, attestToken: ""}
            input: {attestToken: "", token: "", clientData: "", keyId: "", clientError: ""}
        """#,
        "ReCaptchaCallback": #"  - {type: ReCaptchaCallback, output: {recaptchaSiteKey: 6Lsite}, input: {"": ""}}"#,
        "ReCaptchaEnterpriseCallback": #"""
          - type: ReCaptchaEnterpriseCallback
            output:
              recaptchaSiteKey: 6Lsite
              captchaApiUri: https://www.google.com/recaptcha/enterprise.js
              captchaDivClass: g-recaptcha
            input: {token: "", action: "", clientError: "", payload: ""}
        """#,
        "PingOneProtectInitializeCallback": #"""
          - type: PingOneProtectInitializeCallback
            output:
              envId: e-1
              consoleLogEnabled: true
              deviceAttributesToIgnore: []
              customHost: ""
              lazyMetadata: false
              behavioralDataCollection: true
              deviceKeyRsyncIntervals: 14
              enableTrust: false
              disableTags: false
              disableHub: false
              agentIdentification: false
              agentTimeout: 0
              agentPort: ""
            input: {clientError: ""}
        """#,
        "PingOneProtectEvaluationCallback": #"""
          - type: PingOneProtectEvaluationCallback
            output: {pauseBehavioralData: true}
            input: {signals: "", clientError: ""}
        """#,
        "NovelCallback": #"""
          # A callback type that clients don't know.
          - type: NovelCallback
            output: {prompt: Something new, shape: {sides: [3, 4.5]}}
            input: {"": "", extra: {deep: null}}
        """#,
    ]

    /// A button for steps that have no inputs.
    private static let next = #"""
          - type: ConfirmationCallback
            output: {prompt: "", messageType: 0, options: [Next], optionType: -1, defaultOption: 0}
            input: {"": 100}
        """#

    private static let everything: String = {
        let steps = zip(types, types.dropFirst() + ["success"]).map { type, next in
            "      \(type): {type: InnerTreeEvaluatorNode, tree: \(type), outcomes: {true: \(next), false: failure}}\n"
        }
        return """

              # All callbacks, one after another.
              Everything:
                nodes:

            """ + steps.joined()
    }()
}
