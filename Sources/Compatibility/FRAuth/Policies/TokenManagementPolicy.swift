public import Foundation
import SignetCore

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// The app's part in a ``TokenManagementPolicy``.
public protocol TokenManagementPolicyDelegate: AnyObject, Sendable {
    /// Returns true when an answer means that the token must be renewed. The default is false.
    func evaluateTokenRefresh(responseData: Data?, response: URLResponse?, error: (any Error)?) -> Bool
    /// Returns a request with the token. By default it is sent in the `Authorization` header.
    func updateRequest(originalRequest: URLRequest, token: AccessToken) -> URLRequest
}

extension TokenManagementPolicyDelegate {
    /// Never asks for a renewal.
    public func evaluateTokenRefresh(responseData: Data?, response: URLResponse?, error: (any Error)?) -> Bool { false }

    /// Adds the token in the `Authorization` header.
    public func updateRequest(originalRequest: URLRequest, token: AccessToken) -> URLRequest {
        originalRequest.authorized(with: token)
    }
}

/// The rule for requests that carry the access token.
public final class TokenManagementPolicy: NSObject, Sendable {
    private let state: Mutex<State>

    private struct State: Sendable {
        var validatingURL: [URL]
        var delegate: (any TokenManagementPolicyDelegate)?
    }

    /// The addresses that get the token.
    public var validatingURL: [URL] {
        get { state.withLock { $0.validatingURL } }
        set { state.withLock { $0.validatingURL = newValue } }
    }

    /// The app's part.
    public var delegate: (any TokenManagementPolicyDelegate)? {
        get { state.withLock { $0.delegate } }
        set { state.withLock { $0.delegate = newValue } }
    }

    /// Creates a rule.
    /// - Parameters:
    ///   - validatingURL: The addresses that get the token: scheme, host, port and path. No other address gets it.
    ///   - delegate: The app's part.
    public init(validatingURL: [URL], delegate: (any TokenManagementPolicyDelegate)? = nil) {
        state = Mutex(State(validatingURL: validatingURL, delegate: delegate))
    }

    /// Returns true when the rule applies to a request.
    public func validateURL(request: URLRequest) -> Bool { request.isFor(validatingURL) }

    // The spelling is the ForgeRock SDK's.
    /// Returns true when an answer means that the token must be renewed.
    public func evalulateRefreshToken(responseData: Data?, response: URLResponse?, error: (any Error)?) -> Bool {
        delegate?.evaluateTokenRefresh(responseData: responseData, response: response, error: error) ?? false
    }

    /// Returns a request with the token.
    public func updateRequest(originalRequest: URLRequest, token: AccessToken) -> URLRequest {
        delegate?.updateRequest(originalRequest: originalRequest, token: token) ?? originalRequest.authorized(with: token)
    }
}

extension URLRequest {
    /// Returns the request with a token in the `Authorization` header.
    fileprivate func authorized(with token: AccessToken) -> URLRequest {
        var request = self
        request.setValue(token.buildAuthorizationHeader(), forHTTPHeaderField: "Authorization")
        return request
    }
}
