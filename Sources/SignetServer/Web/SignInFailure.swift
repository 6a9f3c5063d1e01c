import SignetCore

/// The reason for which a login has failed, in words for the user.
///
/// A wrong name and a wrong password have one text, so that the page does not tell which names exist.
enum SignInFailure {
    /// Returns the text for the node that ended the login.
    /// - Parameter reason: The reason for the log (``APIError/reason``): the journey, the type of the node and its outcome.
    /// - Returns: The sentence; nil when the reason names no node that has a text.
    static func text(_ reason: String?) -> PageText? {
        let parts = (reason ?? "").split(separator: ": ")
        guard parts.count >= 3 else { return nil }
        let (node, outcome) = (parts[parts.count - 2], parts[parts.count - 1])
        return switch node {
        case "DataStoreDecisionNode", "IdentityStoreDecisionNode", "LdapDecisionNode", "LDAPDecisionNode":
            .wrongCredentials
        case "OathTokenVerifierNode" where outcome == "notRegisteredOutcome": .noCodeDevice
        case "OathTokenVerifierNode", "OneTimePasswordCollectorDecisionNode": .wrongCode
        case "RecoveryCodeCollectorDecisionNode": .wrongRecoveryCode
        case "KbaVerifyNode": .wrongAnswer
        case "RetryLimitDecisionNode": .tooManyAttempts
        case "PushSenderNode": .noPushDevice
        case "PushResultVerifierNode" where outcome == "EXPIRED": .pushExpired
        case "PushResultVerifierNode": .pushDenied
        case "PushWaitNode": .pushWaitEnded
        case "WebAuthnAuthenticationNode" where outcome == "noDevice": .noPasskey
        case "WebAuthnAuthenticationNode": .passkeyFailed
        case "WebAuthnRegistrationNode": .passkeyNotCreated
        default: nil
        }
    }
}
