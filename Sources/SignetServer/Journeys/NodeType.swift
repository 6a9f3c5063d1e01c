import SignetCore
import YAMLText

/// The type of a node in a configuration file: its name, its documentation and the decoding of its properties.
///
/// A node is one file in `Nodes/`, with a type that conforms to ``Node`` or ``Collector``; ``all`` lists it.
struct NodeType: Sendable {
    /// The name of the type in AM, for example `DataStoreDecisionNode`.
    let name: String
    /// The name of the type in AM's editor, for example `Data Store Decision`.
    let title: String
    /// The description of the node, for the documentation.
    let about: String
    /// The description of the outcomes, for the documentation; nil when it lists ``Node/outcomes``.
    let outcomes: String?
    /// The settings that AM's node has and that have no effect here, by their names in AM.
    ///
    /// The file cannot have them. An import leaves them out. All other settings have the same names as in AM, except for those that
    /// the documentation calls additions.
    let ignoredSettings: [String]
    /// Decodes the properties.
    ///
    /// A property with a wrong value is reported and treated as absent, so the result is always a node.
    let decode: @Sendable (inout ConfigurationDecoder, NodeContext) -> any Node

    /// Creates a type whose properties refer to other parts of the file.
    init(
        _ name: String, _ title: String, _ about: String, outcomes: String? = nil, ignoring ignoredSettings: [String] = [],
        withContext decode: @escaping @Sendable (inout ConfigurationDecoder, NodeContext) -> any Node
    ) {
        self.name = name
        self.title = title
        self.about = about
        self.outcomes = outcomes
        self.ignoredSettings = ignoredSettings
        self.decode = decode
    }

    init(
        _ name: String, _ title: String, _ about: String, outcomes: String? = nil, ignoring ignoredSettings: [String] = [],
        _ decode: @escaping @Sendable (inout ConfigurationDecoder) -> any Node
    ) {
        self.init(
            name, title, about, outcomes: outcomes, ignoring: ignoredSettings, withContext: { decoder, _ in decode(&decoder) })
    }

    /// All types, in the order of the documentation.
    static let all: [NodeType] = [
        PageNode.type,
        // Collectors, which can be anywhere on a page.
        UsernameCollector.type, PasswordCollector.type, ValidatedUsernameCollector.type, ValidatedPasswordCollector.type,
        AttributeCollector.type, InputCollector.type, SecurityQuestionsCollector.type, TermsCollector.type,
        ConsentCollector.type, DeviceProfileCollector.type, DisplayUsernameCollector.type,
        // Decisions, and nodes that run or suspend journeys.
        ChoiceCollectorNode.type, MessageNode.type, PollingWaitNode.type, RetryLimitDecisionNode.type,
        InnerTreeEvaluatorNode.type, EmailSuspendNode.type, EmailTemplateNode.type, KBAVerifyNode.type, KBADecisionNode.type,
        TermsDecisionNode.type, ScriptedDecisionNode.type, SelectIdPNode.type, CreatePasswordNode.type,
        MeterNode.type, TimerStartNode.type, TimerStopNode.type,
        // Users and sessions.
        ZeroPageLoginNode.type, DataStoreDecisionNode.type, IdentityStoreDecisionNode.type, LDAPDecisionNode.type,
        AgentDataStoreDecisionNode.type, AnonymousUserNode.type, IdentifyExistingUserNode.type, AccountActiveDecisionNode.type,
        AccountLockoutNode.type,
        CreateObjectNode.type, PatchObjectNode.type, AttributePresentDecisionNode.type, AttributeValueDecisionNode.type,
        QueryFilterDecisionNode.type, IncrementLoginCountNode.type, LoginCountDecisionNode.type,
        ModifyAuthLevelNode.type, AuthLevelDecisionNode.type, CookiePresenceDecisionNode.type,
        SetSessionPropertiesNode.type, RemoveSessionPropertiesNode.type, SessionDataNode.type, SetSuccessURLNode.type,
        SetFailureURLNode.type,
        SetPersistentCookieNode.type, PersistentCookieDecisionNode.type,
        // One-time passwords, one-time codes and recovery codes.
        OneTimePasswordGeneratorNode.type, OneTimePasswordSMTPSenderNode.type, OneTimePasswordCollectorDecisionNode.type,
        OATHRegistrationNode.type, OATHDeviceStorageNode.type, OATHTokenVerifierNode.type, RecoveryCodeDisplayNode.type,
        RecoveryCodeCollectorDecisionNode.type,
        // Push.
        PushRegistrationNode.type, CombinedMultiFactorRegistrationNode.type, PushSenderNode.type, PushWaitNode.type,
        PushResultVerifierNode.type,
        // Profiles and keys of devices.
        DeviceMatchNode.type, DeviceSaveNode.type, DeviceBindingNode.type, DeviceBindingStorageNode.type,
        DeviceSigningVerifierNode.type, WebAuthnRegistrationNode.type, WebAuthnDeviceStorageNode.type,
        WebAuthnAuthenticationNode.type,
        // Ends of a journey.
        SuccessNode.type, FailureNode.type, PassThroughNode.type, StubNode.type,
    ]
}

/// The parts of the file that the properties of a node refer to.
struct NodeContext: Sendable, Hashable {
    /// The definitions of the attributes, by name.
    var attributes = AttributeDefinition.builtIn
}

extension ConfigurationDecoder {
    /// Decodes a node's type and its properties.
    ///
    /// It returns nil when the type is missing or unknown.
    mutating func node(_ context: NodeContext) -> (any Node)? {
        guard let value = requiredValue("type", kind: "the name of a node type") else {
            ignoreUnknownSettings()
            return nil
        }
        let name = value.text ?? ""
        guard let type = NodeType.all.first(where: { $0.name == name }) else {
            report(
                .unknownName, at: value.position,
                "there is no node type `\(name.shortened)`" + NodeType.all.map(\.name).suggestion(for: name))
            ignoreUnknownSettings()
            return nil
        }
        return type.decode(&self, context)
    }
}
