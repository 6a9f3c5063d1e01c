import PingCommons
import SignetCore
import SignetNetwork

/// A transport that applies a timeout to each request, even when the transport behind it ignores timeouts.
struct TimedTransport: HTTPTransport {
    let transport: any HTTPTransport
    let limit: Duration

    var canPin: Bool { transport.canPin }

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        var request = request
        request.timeout = limit
        let (timed, transport) = (request, transport)
        let outcome = await withTimeout(limit) { () async -> Result<HTTPResponse, TransportError> in
            do throws(TransportError) {
                return .success(try await transport.send(timed))
            } catch {
                return .failure(error)
            }
        }
        guard let outcome else {
            let host = request.url.split(separator: "/").dropFirst().first.map(String.init) ?? "?"
            throw TransportError(.timeout, host: host, "no answer within \(limit)")
        }
        return try outcome.get()
    }

    func stream(
        _ request: HTTPRequest, receive: ContentReceiver
    ) async throws -> HTTPResponse {
        var request = request
        request.timeout = limit
        return try await transport.stream(request, receive: receive)
    }
}

extension HttpClient {
    /// The transport with the timeout.
    var timedTransport: any HTTPTransport { TimedTransport(transport: transport, limit: requestTimeout) }
}
