/// A node that compares the collected password with the users of this server, in place of those of an LDAP directory.
struct LDAPDecisionNode: Node {
    static let type = NodeType(
        "LdapDecisionNode", "LDAP Decision",
        "Compares the collected name and password with the users of this server, as Identity Store Decision does. It connects to no directory.",
        ignoring: [
            "primaryServers", "secondaryServers", "accountSearchBaseDn", "adminDn", "adminPassword", "userProfileAttribute",
            "searchFilterAttributes", "userSearchFilter", "searchScope", "ldapConnectionMode", "returnUserDn",
            "userCreationAttrs",
            "minimumPasswordLength", "beheraEnabled", "trustAllServerCertificates", "heartbeatInterval", "heartbeatTimeUnit",
            "ldapOperationsTimeout", "mixedCaseForPasswordChangeMessages", "affinityLevel", "mtlsEnabled", "mtlsSecretLabel",
            "stsEnabled",
        ]
    ) { _ in Self() }

    var outcomes: [NodeOutcome] { [.approved, .denied, .locked] }
    var ignoredOutcomes: [NodeOutcome] { [.cancelled, .expired] }
    /// The password is removed, so another visit compares none.
    var repeatedOutcomes: [NodeOutcome] { [.denied] }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        try journey.passwordOutcome(&tx)
    }
}
