import SignetCore

/// The reason for which a login has failed, in words for the user.
///
/// A wrong name and a wrong password have one text, so that the page does not tell which names exist.
enum SignInFailure {
    /// Returns the text for the node that ended the login.
    /// - Parameter reason: The reason for the log (``APIError/reason``): the journey, the type of the node and its outcome.
    /// - Returns: One or two sentences; nil when the reason names no node that has a text.
    static func text(_ reason: String?) -> String? {
        let parts = (reason ?? "").split(separator: ": ")
        guard parts.count >= 3 else { return nil }
        let (node, outcome) = (parts[parts.count - 2], parts[parts.count - 1])
        return switch node {
        case "DataStoreDecisionNode", "IdentityStoreDecisionNode", "LdapDecisionNode", "LDAPDecisionNode":
            "The user name or the password is wrong."
        case "OathTokenVerifierNode" where outcome == "notRegisteredOutcome": "You have no device for one-time codes."
        case "OathTokenVerifierNode", "OneTimePasswordCollectorDecisionNode": "The code is wrong, or it was used before."
        case "RecoveryCodeCollectorDecisionNode": "The recovery code is wrong, or it was used before."
        case "KbaVerifyNode": "An answer is wrong."
        case "RetryLimitDecisionNode": "There were too many wrong attempts."
        case "PushSenderNode": "You have no device for approvals."
        case "PushResultVerifierNode" where outcome == "EXPIRED": "Your device did not answer in time."
        case "PushResultVerifierNode": "The sign-in was denied on your device."
        case "PushWaitNode": "You have ended the wait for your device."
        case "WebAuthnAuthenticationNode" where outcome == "noDevice": "You have no passkey for this site."
        case "WebAuthnAuthenticationNode": "The passkey did not work."
        case "WebAuthnRegistrationNode": "No passkey was created."
        default: nil
        }
    }
}
