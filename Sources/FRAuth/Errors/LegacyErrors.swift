import SignetJourney
import SignetNetwork

/// The original SDK's errors for those of the engine.
enum LegacyErrors {
    static func error(_ error: any Error) -> any Error {
        switch error {
        case let error as JourneyError: journey(error)
        case let error as TransportError:
            error.code == .invalidRequest
                ? NetworkError.invalidRequest(error.description) : NetworkError.apiRequestFailure(error.description)
        case let error as ProfileError: ConfigError.invalidConfiguration(error.description)
        case let error as CallbackError: AuthError.invalidCallbackResponse(error.description)
        case is CancellationError: AuthError.authenticationCancelled
        default: error
        }
    }

    private static func journey(_ error: JourneyError) -> any Error {
        switch error.code {
        case .timedOut: AuthApiError.authenticationTimout(error.message)
        case .suspensionExpired: AuthApiError.suspendedAuthSessionError(error.message)
        case .invalidResumeURI: AuthError.invalidResumeURI(error.message)
        case .serverMisbehaved:
            (200..<300).contains(error.status ?? 0)
                ? AuthError.invalidAuthServiceResponse(error.message) : NetworkError.invalidResponseDataType
        case .invalidRequest, .busy, .staleStep: NetworkError.invalidRequest(error.message)
        case .loginFailed, .policyFailed, .refused, .serverFailed:
            // The original wants both words of the server before it repeats them.
            if let reason = error.reason, let status = error.status {
                AuthApiError.apiFailureWithMessage(reason: reason, message: error.message, status: status, failure: error)
            } else {
                AuthApiError.apiRequestFailure(status: error.status ?? 0)
            }
        }
    }
}
