public import Foundation
import SignetCore

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// The outcome of a request of ``RestClient``.
public enum Result {
    /// The server's answer as a JSON object, which is empty for an answer without a body, and the answer's head.
    case success(result: [String: Any], httpResponse: URLResponse?)
    /// The reason that no usable answer arrived.
    case failure(error: any Error)
}

/// A completion that gets the outcome of a request.
public typealias ResultCallback = @Sendable (Result) -> Void

/// The answer to a request, before it is read.
public struct Response {
    let data: Data?
    let response: URLResponse?
    let error: (any Error)?

    /// Creates an answer from the values that a data task of `URLSession` completes with.
    public init(data: Data?, response: URLResponse?, error: (any Error)?) {
        self.data = data
        self.response = response
        self.error = error
    }

    // The spelling is the ForgeRock SDK's.
    /// Reads the answer: a JSON object, or an empty body, with a status of 200 to 302.
    public func parseReponse() -> Result {
        if let error { return .failure(error: error) }
        guard let head = response as? HTTPURLResponse, (200..<303).contains(head.statusCode) else {
            return .failure(error: NetworkError.apiRequestFailure(data, response, error))
        }
        guard let data, !data.isEmpty else { return .success(result: [:], httpResponse: response) }
        guard let members = RequestBody.members(ofJSON: data) else {
            return .failure(error: NetworkError.invalidResponseDataType)
        }
        return .success(result: members.mapValues(\.any), httpResponse: response)
    }
}
