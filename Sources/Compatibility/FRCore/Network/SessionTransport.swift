import Foundation
import SignetNetwork

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A transport over a `URLSession` that the app configured.
///
/// It doesn't check pins.
struct SessionTransport: HTTPTransport {
    let session: URLSession

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        let host = TransportError.host(of: request.url)
        guard let url = URL(string: request.url) else {
            throw TransportError(.invalidRequest, host: host, "the address can't be read")
        }
        var message = URLRequest(url: url, timeoutInterval: request.timeout / .seconds(1))
        message.httpMethod = request.method
        for field in request.headers.fields { message.addValue(field.value, forHTTPHeaderField: field.name) }
        if !request.body.isEmpty { message.httpBody = Data(request.body) }
        let outcome = await answer(to: message)
        switch outcome {
        case .success(let response): return response
        case .failure(let error): throw TransportError(Self.code(of: error), host: host, "the request failed")
        }
    }

    func stream(
        _ request: HTTPRequest, receive: ContentReceiver
    ) async throws -> HTTPResponse {
        var response = try await send(request)
        guard (200..<300).contains(response.status) else { return response }
        try await receive(response.body)
        response.body = []
        return response
    }

    private func answer(to message: URLRequest) async -> Swift.Result<HTTPResponse, any Error> {
        await withCheckedContinuation { continuation in
            let task = session.dataTask(with: message) { data, head, error in
                guard let head = head as? HTTPURLResponse, error == nil else {
                    return continuation.resume(returning: .failure(error ?? URLError(.badServerResponse)))
                }
                continuation.resume(returning: .success(Self.response(head, data)))
            }
            task.resume()
        }
    }

    private static func response(_ head: HTTPURLResponse, _ data: Data?) -> HTTPResponse {
        var response = HTTPResponse(status: head.statusCode, body: Array(data ?? Data()))
        for (name, value) in head.allHeaderFields {
            guard let name = name as? String, let value = value as? String else { continue }
            let values = name.lowercased() == "set-cookie" ? HTTPHeaders.cookies(joined: value) : [value]
            for value in values { response.headers.append(name, value) }
        }
        return response
    }

    /// The engine's code for an error of Foundation.
    private static func code(of error: any Error) -> TransportError.Code {
        switch (error as? URLError)?.code {
        case .timedOut?: .timeout
        case .cannotFindHost?, .cannotConnectToHost?, .dnsLookupFailed?, .notConnectedToInternet?: .connect
        case .secureConnectionFailed?, .serverCertificateHasBadDate?, .serverCertificateUntrusted?,
            .serverCertificateHasUnknownRoot?, .serverCertificateNotYetValid?:
            .tls
        case .cancelled?: .cancelled
        case .badURL?, .unsupportedURL?: .invalidRequest
        default: .interrupted
        }
    }
}
