package import PingCommons
package import SignetCore
import SignetNetwork

extension HttpClient {
    /// Sends a request with a timeout, to an address that the policy or `plainHTTPHosts` allows.
    package func send(_ request: Request, timeout: Duration, policy: EndpointPolicy) async throws -> HttpResponse {
        var message = request.message
        _ = try Endpoint(message.url, policy: .allowingPlainHTTP(to: policy.plainHTTPHosts.union(plainHTTPHosts)))
        message.timeout = timeout
        return HttpResponse(try await transport.deliver(message), to: message.url)
    }
}
