import FRCore
import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth

/// Converts errors of the engine to errors of the ForgeRock SDK.
enum LegacyErrors {
    static func error(_ error: any Error) -> any Error {
        switch error {
        case let error as JourneyError: journey(error)
        case let error as UserDeviceError: device(error)
        case let error as SignetOAuth.TokenError: token(error)
        case let error as OAuthError: oauth(error)
        case let error as TransportError: network(error)
        case let error as ProfileError: profile(error)
        case let error as CallbackError: AuthError.invalidCallbackResponse(error.description)
        case is CancellationError: AuthError.authenticationCancelled
        default: error
        }
    }

    private static func network(_ error: TransportError) -> NetworkError {
        error.code == .invalidRequest ? .invalidRequest(error.description) : .apiRequestFailure(nil, nil, error)
    }

    private static func profile(_ error: ProfileError) -> any Error {
        error.fault.refusal.map(oauth) ?? ConfigError.invalidConfiguration(error.description)
    }

    private static func journey(_ error: JourneyError) -> any Error {
        switch error.code {
        case .timedOut: AuthApiError.authenticationTimout(error.reason ?? "", error.message, error.status, detail(error))
        case .suspensionExpired:
            AuthApiError.suspendedAuthSessionError(error.reason ?? "", error.message, error.status, detail(error))
        case .invalidResumeURI: AuthError.invalidResumeURI(error.message)
        case .serverMisbehaved where error.isInvalidCallback: AuthError.invalidCallbackResponse(error.message)
        case .serverMisbehaved where (200..<300).contains(error.status ?? 0):
            AuthError.invalidAuthServiceResponse(error.message)
        case .serverMisbehaved: unreadable(status: error.status, cause: error)
        case .invalidRequest, .busy, .staleStep: NetworkError.invalidRequest(error.message)
        default:
            // The ForgeRock SDK reports the server's message only with a reason; without one it reports only the status.
            if let reason = error.reason, let status = error.status {
                AuthApiError.apiFailureWithMessage(reason, error.message, status, detail(error))
            } else {
                AuthApiError.failure(status: error.status, cause: error)
            }
        }
    }

    private static func device(_ error: UserDeviceError) -> any Error {
        switch (error.code, error.cause) {
        case (_, .network(let cause)?): network(cause)
        case (_, .storage(let cause)?): cause
        case (.cancelled, _): CancellationError()
        case (.notConfigured, _): ConfigError.invalidConfiguration(error.message)
        case (.invalidName, _): NetworkError.invalidRequest(error.message)
        case (.serverMisbehaved, _): unreadable(status: error.status, cause: error)
        default:
            if let status = error.status {
                // The ForgeRock SDK's own reason for all of them.
                AuthApiError.apiFailureWithMessage("Bad Request", error.message, status, nil as ErrorPayload?)
            } else if error.code == .loginRequired {
                AuthError.userAuthenticationRequired
            } else {
                error
            }
        }
    }

    private static func detail(_ error: JourneyError) -> ErrorPayload? { error.detail?.object.map { ErrorPayload($0) } }

    private static func token(_ error: SignetOAuth.TokenError) -> any Error {
        switch (error.code, error.cause) {
        case (.loginRequired, _): AuthError.userAuthenticationRequired
        case (.cancelled, _): AuthError.authenticationCancelled
        case (_, .server(let cause)?): oauth(cause)
        case (_, .network(let cause)?): network(cause)
        case (_, .idToken(let cause)?): AuthError.invalidTokenResponse(reason: cause.description)
        // The store's error explains the problem and the remedy better than a code of the ForgeRock SDK would.
        case (_, .storage(let cause)?): cause
        case (.notConfigured, .other(let reason)?): OAuth2Error.missingOrInvalidRedirectURI(reason)
        default: OAuth2Error.other(error.description)
        }
    }

    private static func oauth(_ error: OAuthError) -> any Error {
        let words = error.description
        switch error.code {
        case .invalidRequest: return OAuth2Error.invalidAuthorizeRequest(words)
        case .invalidClient: return OAuth2Error.invalidClient(words)
        case .invalidGrant: return OAuth2Error.invalidGrant(words)
        case .unauthorizedClient: return OAuth2Error.unauthorizedClient(words)
        case .unsupportedGrantType: return OAuth2Error.unsupportedGrantType(words)
        case .unsupportedResponseType: return OAuth2Error.unsupportedResponseType(words)
        case .invalidScope: return OAuth2Error.invalidScope(words)
        case .accessDenied: return OAuth2Error.accessDenied(words)
        case .stateMismatch: return OAuth2Error.invalidPKCEState
        case .notRedirected: return OAuth2Error.missingOrInvalidRedirectURI(words)
        case .noCode: return OAuth2Error.unknown(words)
        case .failed: return AuthApiError.failure(status: error.status, cause: error)
        case .unreadable, .repeatedMember, .unusableToken: return unreadable(status: error.status, cause: error)
        // An error of AM's own resources has a message and no OAuth 2.0 name.
        case .other where error.status != nil && error.name == OAuthError.Code.other.rawValue:
            return AuthApiError.apiFailureWithMessage("", error.explanation ?? words, error.status, nil as ErrorPayload?)
        case .notConfigured, .notOffered: return ConfigError.invalidConfiguration(words)
        // Among them are loginRequired, interactionRequired and consentRequired: the session still exists here, and the server
        // wants an interaction with the user. The engine reports an ended session as TokenError.loginRequired.
        default: return OAuth2Error.other(words)
        }
    }
    /// Returns the error for an answer of another form; for an error status it keeps the status.
    private static func unreadable(status: Int?, cause: any Error) -> any Error {
        guard let status, !(200..<303).contains(status) else { return NetworkError.invalidResponseDataType }
        return AuthApiError.failure(status: status, cause: cause)
    }
}
