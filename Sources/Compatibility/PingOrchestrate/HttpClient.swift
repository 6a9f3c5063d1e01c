package import Foundation
package import SignetCore
package import SignetNetwork

/// The HTTP client of a workflow, over a transport.
public final class HttpClient: Sendable {
    /// The transport that sends the requests.
    package let transport: any HTTPTransport

    /// Creates a client with the default transport.
    public convenience init() { self.init(transport: DefaultTransport.make()) }

    /// Creates a client with a transport of the app.
    public init(transport: any HTTPTransport) {
        self.transport = transport
    }

    /// Sends a request with a timeout in seconds, to an address that the policy allows.
    package func send(_ request: Request, timeout: TimeInterval, policy: EndpointPolicy) async throws -> HttpResponse {
        var message = request.message
        _ = try Endpoint(message.url, policy: policy)
        message.timeout = .seconds(timeout)
        return HttpResponse(try await transport.deliver(message), to: message.url)
    }
}
