import FRCore
import SignetCore
package import SignetNetwork
import SignetOAuth
import SignetStorage

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// A protocol class for the app's own `URLSession`, which applies a ``TokenManagementPolicy`` and an ``AuthorizationPolicy``.
///
///     FRURLProtocol.tokenManagementPolicy = TokenManagementPolicy(validatingURL: [url])
///     configuration.protocolClasses = [FRURLProtocol.self]
///
/// The requests for the policies' addresses are sent over the SDK's transport, which follows no redirect. The token goes only to
/// the addresses of the policy. A request in plain `http` to another host than this machine fails with
/// `NetworkError.invalidRequest` unless ``FRAuth/allowPlainHTTP(to:)`` names the host. ``FRAuth/authorizedTransport(for:)`` does
/// the same without `URLSession`.
public final class FRURLProtocol: URLProtocol {
    /// The rule for requests that carry the access token; nil for none.
    public static var tokenManagementPolicy: TokenManagementPolicy? {
        get { FRAuthProcess.current.state.withLock { $0.tokenPolicy } }
        set { FRAuthProcess.current.state.withLock { $0.tokenPolicy = newValue } }
    }

    /// The rule for requests that may need more authentication; nil for none.
    public static var authorizationPolicy: AuthorizationPolicy? {
        get { FRAuthProcess.current.state.withLock { $0.authorizationPolicy } }
        set { FRAuthProcess.current.state.withLock { $0.authorizationPolicy = newValue } }
    }

    /// Returns true for requests to which one of the policies applies.
    override public class func canInit(with request: URLRequest) -> Bool {
        tokenManagementPolicy?.validateURL(request: request) == true
            || authorizationPolicy?.validateURL(request: request) == true
    }

    /// Returns the request unchanged.
    override public class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Sends the request according to the policies.
    ///
    /// It blocks the thread on which Foundation loads until the answer is there.
    override public func startLoading() {
        let (exchange, request) = (PolicyExchange(process: .current), request)
        switch Blocking.wait(for: { await exchange.answer(to: request) }) {
        case .success(let answer):
            guard let head = answer.head(for: request) else { return fail(URLError(.badServerResponse)) }
            client?.urlProtocol(self, didReceive: head, cacheStoragePolicy: .notAllowed)
            client?.urlProtocol(self, didLoad: Data(answer.body))
            client?.urlProtocolDidFinishLoading(self)
        case .failure(let error): fail(error)
        }
    }

    /// Does nothing, because the request ends before Foundation can stop it.
    override public func stopLoading() {}

    private func fail(_ error: any Error) { client?.urlProtocol(self, didFailWithError: error) }
}

/// A request of the app under the policies of a process.
package struct PolicyExchange: Sendable {
    private let process: FRAuthProcess

    /// Creates an exchange with the policies that the process has when a request is sent.
    package init(process: FRAuthProcess) { self.process = process }

    /// Sends a request, after a renewal of the token or a journey again, and returns the last answer.
    ///
    /// For an address that the process's policy does not permit, it sends nothing, reads no token and returns
    /// `NetworkError.invalidRequest`.
    package func answer(to request: URLRequest) async -> Swift.Result<HTTPResponse, any Error> {
        if let refusal = refusal(of: request) { return .failure(refusal) }
        let policies = process.state.withLock { ($0.tokenPolicy, $0.authorizationPolicy) }
        let tokens = policies.0.flatMap { $0.validateURL(request: request) ? $0 : nil }
        let authorization = policies.1.flatMap { $0.validateURL(request: request) ? $0 : nil }
        var answer = await send(request, tokens)
        if let tokens, evaluates(answer, request, tokens), let user = user, (try? await user.refresh()) != nil {
            answer = await send(request, tokens)
            // The delegate sees the second answer too; the request is sent twice at most.
            _ = evaluates(answer, request, tokens)
        }
        guard let authorization, let advice = self.advice(in: answer, request, authorization) else { return answer }
        let isFollowed = await withCheckedContinuation { continuation in
            authorization.onPolicyAdviceReceived(policyAdvice: advice) { continuation.resume(returning: $0) }
        }
        guard isFollowed else { return answer }
        return await send(authorization.updateRequest(originalRequest: request, txId: advice.txId), tokens)
    }

    /// The user that is logged in; nil without one.
    private var user: FRUser? { process.started.flatMap { $0.session.contents.hasUser ? FRUser(process) : nil } }

    private func send(_ request: URLRequest, _ policy: TokenManagementPolicy?) async -> Swift.Result<HTTPResponse, any Error> {
        if let refusal = refusal(of: request) { return .failure(refusal) }
        var request = request
        if let policy, let token = try? await user?.getAccessToken().token {
            request = policy.updateRequest(originalRequest: request, token: token)
            // The app's delegate may have changed the address.
            if let refusal = refusal(of: request) { return .failure(refusal) }
        }
        var message = HTTPRequest(
            request.httpMethod ?? "GET", request.url?.absoluteString ?? "", body: Array(request.httpBody ?? Data()),
            timeout: .seconds(request.timeoutInterval))
        for (name, value) in (request.allHTTPHeaderFields ?? [:]).sorted(by: { $0.key < $1.key }) {
            message.headers.append(name, value)
        }
        let final = message
        return await Swift.Result(of: { try await process.transport.deliver(final) })
    }

    /// Returns the error for a request to an address that the process's policy does not permit; nil for a permitted address.
    private func refusal(of request: URLRequest) -> NetworkError? {
        do throws(EndpointError) {
            _ = try Endpoint(request.url?.absoluteString ?? "", policy: process.policy)
            return nil
        } catch {
            // The address may contain a password, so the error has the host only.
            let host = request.url?.host(percentEncoded: true) ?? "no host"
            let remedy = error.code == .plainHTTP ? "; FRAuth.allowPlainHTTP(to:) allows it in a test network" : ""
            return .invalidRequest("\(request.httpMethod ?? "GET") to \(host): \(error)\(remedy)")
        }
    }

    private func evaluates(
        _ answer: Swift.Result<HTTPResponse, any Error>, _ request: URLRequest, _ policy: TokenManagementPolicy
    ) -> Bool {
        switch answer {
        case .success(let answer):
            policy.evalulateRefreshToken(responseData: Data(answer.body), response: answer.head(for: request), error: nil)
        case .failure(let error): policy.evalulateRefreshToken(responseData: nil, response: nil, error: error)
        }
    }

    private func advice(
        in answer: Swift.Result<HTTPResponse, any Error>, _ request: URLRequest, _ policy: AuthorizationPolicy
    ) -> PolicyAdvice? {
        switch answer {
        case .success(let answer):
            policy.evaluateAuthorizationPolicy(
                responseData: Data(answer.body), response: answer.head(for: request), error: nil)
        case .failure(let error): policy.evaluateAuthorizationPolicy(responseData: nil, response: nil, error: error)
        }
    }
}

extension HTTPResponse {
    /// The head in the form of Foundation.
    fileprivate func head(for request: URLRequest) -> HTTPURLResponse? {
        let fields = Dictionary(headers.fields.map { ($0.name, $0.value) }, uniquingKeysWith: { "\($0),\($1)" })
        return request.url.flatMap { HTTPURLResponse(url: $0, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields) }
    }
}
