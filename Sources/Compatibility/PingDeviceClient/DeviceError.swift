public import Foundation
import SignetJourney

/// An error of a request about devices.
public enum DeviceError: LocalizedError, Sendable {
    /// No response arrived, with the error of the network or of the app.
    case networkError(error: any Error)
    /// The server rejected the request, with the status and the server's message.
    case requestFailed(statusCode: Int, message: String)
    /// The address of the server can't be used.
    case invalidUrl(url: String)
    /// The response isn't one of AM.
    case decodingFailed(error: any Error)
    /// The new name of a device is empty or too long. Nothing was sent.
    case encodingFailed(message: String)
    /// The response can't be used. This SDK never returns it; it exists for programs that switch over the Ping SDK's errors.
    case invalidResponse(message: String)
    /// The configuration has an empty session.
    case invalidToken(message: String)
    /// A setting is invalid.
    case missingConfiguration(message: String)

    /// The message.
    public var errorDescription: String? {
        switch self {
        case .networkError(let error): "Network error: \(error.localizedDescription)"
        case .requestFailed(let status, let message): "Request failed with status \(status): \(message)"
        case .invalidUrl(let url): "Invalid URL: \(url)"
        case .decodingFailed(let error): "Failed to decode response: \(error.localizedDescription)"
        case .encodingFailed(let message): "Failed to encode request: \(message)"
        case .invalidResponse(let message): "Invalid response: \(message)"
        case .invalidToken(let message): "Invalid token: \(message)"
        case .missingConfiguration(let message): "Missing configuration: \(message)"
        }
    }

    /// The kind of the problem in a sentence.
    public var failureReason: String? {
        switch self {
        case .networkError: "The server could not be reached."
        case .requestFailed: "The server rejected the request."
        case .invalidUrl: "The address of the server can't be used."
        case .decodingFailed, .invalidResponse: "The answer is not that of an AM."
        case .encodingFailed: "The name of the device can't be used."
        case .invalidToken: "There is no session."
        case .missingConfiguration: "A setting is missing or invalid."
        }
    }

    /// The remedy in a sentence.
    public var recoverySuggestion: String? {
        switch self {
        case .networkError: "Check the network connection and try again."
        case .requestFailed(401, _), .invalidToken: "Log in again."
        case .requestFailed(404, _): "List the devices again."
        case .requestFailed(500..., _), .requestFailed(429, _): "Try again later."
        case .requestFailed: "Ask the administrator of the server."
        case .invalidUrl, .missingConfiguration: "Check the configuration."
        case .decodingFailed, .invalidResponse: "Check the address of the server."
        case .encodingFailed: "Choose another name."
        }
    }
}

extension DeviceError {
    /// Converts an error of the engine.
    init(_ error: UserDeviceError) {
        if case .network(let cause) = error.cause {
            self = .networkError(error: cause)
            return
        }
        switch (error.code, error.status) {
        case (.serverMisbehaved, let status?) where (200..<300).contains(status): self = .decodingFailed(error: error)
        case (_, let status?): self = .requestFailed(statusCode: status, message: error.message)
        case (.invalidName, nil): self = .encodingFailed(message: error.message)
        case (.loginRequired, nil): self = .invalidToken(message: error.message)
        case (.notConfigured, nil): self = .missingConfiguration(message: error.message)
        default: self = .networkError(error: error)
        }
    }
}
