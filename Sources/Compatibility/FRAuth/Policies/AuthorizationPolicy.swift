import FRCore
public import Foundation
import SignetCore
import SignetJourney
import SignetNetwork

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// The app's part in an ``AuthorizationPolicy``.
public protocol AuthorizationPolicyDelegate: AnyObject, Sendable {
    /// Returns the advice in an answer in which the SDK found none; nil for an answer without advice, which is the default.
    func evaluateAuthorizationPolicy(responseData: Data?, response: URLResponse?, error: (any Error)?) -> PolicyAdvice?
    /// Runs the journey that the advice asks for.
    /// - Parameters:
    ///   - policyAdvice: The advice, for `FRSession.authenticate(policyAdvice:completion:)`.
    ///   - completion: Must be called once: with true after the journey succeeded, and then the request is repeated.
    func onPolicyAdviseReceived(policyAdvice: PolicyAdvice, completion: @escaping FRCompletionResultCallback)
    /// Returns the request to repeat. By default the transaction's identifier is added as `_txid` to its query.
    func updateRequest(originalRequest: URLRequest, txId: String?) -> URLRequest
}

extension AuthorizationPolicyDelegate {
    /// Finds no advice.
    public func evaluateAuthorizationPolicy(
        responseData: Data?, response: URLResponse?, error: (any Error)?
    ) -> PolicyAdvice? { nil }

    /// Adds the transaction's identifier to the query.
    public func updateRequest(originalRequest: URLRequest, txId: String?) -> URLRequest {
        originalRequest.confirming(txId)
    }
}

/// The rule for requests to which a server may answer that a policy requires more authentication.
public final class AuthorizationPolicy: NSObject, Sendable {
    /// The addresses to which the rule applies.
    public let validatingURL: [URL]
    /// The app's part.
    public let delegate: (any AuthorizationPolicyDelegate)?

    /// Creates a rule.
    /// - Parameters:
    ///   - validatingURL: The addresses to which the rule applies: scheme, host, port and path.
    ///   - delegate: The app's part. Without it, advice is not followed.
    public init(validatingURL: [URL], delegate: (any AuthorizationPolicyDelegate)? = nil) {
        self.validatingURL = validatingURL
        self.delegate = delegate
    }

    /// Returns true when the rule applies to a request.
    public func validateURL(request: URLRequest) -> Bool { request.isFor(validatingURL) }

    /// Returns the advice in an answer, or that of the delegate; nil for an answer without advice.
    public func evaluateAuthorizationPolicy(
        responseData: Data?, response: URLResponse?, error: (any Error)?
    ) -> PolicyAdvice? {
        let found = HTTPResponse(response, responseData).flatMap { SignetJourney.PolicyAdvice($0) }
        let inBody = (try? JSON.value(of: Array(responseData ?? Data()))).flatMap { SignetJourney.PolicyAdvice(evaluation: $0) }
        return (found ?? inBody).flatMap { PolicyAdvice($0) }
            ?? delegate?.evaluateAuthorizationPolicy(responseData: responseData, response: response, error: error)
    }

    /// Passes advice to the delegate; the completion gets false without a delegate.
    public func onPolicyAdviceReceived(policyAdvice: PolicyAdvice, completion: @escaping FRCompletionResultCallback) {
        guard let delegate else { return completion(false) }
        delegate.onPolicyAdviseReceived(policyAdvice: policyAdvice, completion: completion)
    }

    /// Returns the request to repeat after the advice was followed.
    public func updateRequest(originalRequest: URLRequest, txId: String?) -> URLRequest {
        delegate?.updateRequest(originalRequest: originalRequest, txId: txId) ?? originalRequest.confirming(txId)
    }
}

extension URLRequest {
    /// Returns true when the request is for one of these addresses.
    func isFor(_ addresses: [URL]) -> Bool {
        guard let url, let endpoint = try? Endpoint(unchecked: url.absoluteString) else { return false }
        return addresses.contains { address in
            guard let other = try? Endpoint(unchecked: address.absoluteString) else { return false }
            let (path, otherPath) = (url.path == "/" ? "" : url.path, address.path == "/" ? "" : address.path)
            return endpoint.hasSameOrigin(as: other) && path == otherPath
        }
    }

    /// Returns the request with a transaction's identifier in its query.
    func confirming(_ txId: String?) -> URLRequest {
        guard let txId, let url else { return self }
        var request = self
        request.url = URL(string: FormCoding.address(url.absoluteString, adding: [("_txid", txId)]))
        return request
    }
}

extension HTTPResponse {
    /// Creates an answer from Foundation's; nil without a status.
    init?(_ response: URLResponse?, _ data: Data?) {
        guard let head = response as? HTTPURLResponse else { return nil }
        self.init(status: head.statusCode, body: Array(data ?? Data()))
        for (name, value) in head.allHeaderFields {
            if let name = name as? String, let value = value as? String { headers.append(name, value) }
        }
    }
}
