package import Foundation
package import PingCommons
package import SignetCore
import SignetNetwork

extension HttpClient {
    /// Sends a request with a timeout in seconds, to an address that the policy or `plainHTTPHosts` allows.
    package func send(_ request: Request, timeout: TimeInterval, policy: EndpointPolicy) async throws -> HttpResponse {
        var message = request.message
        _ = try Endpoint(message.url, policy: .allowingPlainHTTP(to: policy.plainHTTPHosts.union(plainHTTPHosts)))
        message.timeout = .seconds(timeout)
        return HttpResponse(try await transport.deliver(message), to: message.url)
    }
}
