public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// An error of the network, or an unreadable answer.
///
/// Each case names the ForgeRock SDK's code.
public enum NetworkError: CodedFRError {
    /// The answer isn't a JSON object (code 5000003).
    case invalidResponseDataType
    /// The request can't be made, with the reason (code 5000005).
    case invalidRequest(String)
    /// The request failed, with the body and the head of the server's answer, if one arrived, or the error of the network (code
    /// 5000010).
    ///
    /// The body may contain secrets. It is not in ``errorUserInfo`` and not in any description.
    case apiRequestFailure(Data?, URLResponse?, (any Error)?)

    /// The error domain, `com.forgerock.ios.frcore.network`.
    public static var errorDomain: String { "com.forgerock.ios.frcore.network" }

    /// The ForgeRock SDK's code.
    public var code: Int {
        switch self {
        case .invalidResponseDataType: 5_000_003
        case .invalidRequest: 5_000_005
        case .apiRequestFailure: 5_000_010
        }
    }

    // The ForgeRock SDK's tests compare these texts.
    /// The short description.
    public var message: String {
        switch self {
        case .invalidResponseDataType: "Invalid response data type"
        case .invalidRequest(let reason): "Invalid request: \(reason)"
        case .apiRequestFailure: "Request failed"
        }
    }

    /// A description of the problem and, if one exists, of the remedy.
    public var description: String {
        switch self {
        case .invalidResponseDataType: "the response is not a JSON object; check that the address is an AM server's"
        case .invalidRequest(let reason): reason
        case .apiRequestFailure(_, let response as HTTPURLResponse, _): "the server answered with HTTP \(response.statusCode)"
        case .apiRequestFailure(_, _, let error?): "\(error)"
        case .apiRequestFailure: "no answer arrived"
        }
    }

    /// The descriptions and, under the key of the ForgeRock SDK, the error of the network.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [NSLocalizedDescriptionKey: message, NSLocalizedRecoverySuggestionErrorKey: description]
        if case .apiRequestFailure(_, _, let error?) = self { info["\(Self.errorDomain).error"] = error }
        return info
    }
}

extension NetworkError: CustomDebugStringConvertible, CustomReflectable {
    /// The value of ``description``.
    public var debugDescription: String { description }
    /// An empty mirror, because the answer may contain secrets.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// An error of a key.
public enum SecurityError: CodedFRError, Hashable {
    /// The public half of a key can't be read (code 5100001).
    case failToExtractPublicKey

    /// The error domain, `com.forgerock.ios.frcore.security`.
    public static var errorDomain: String { "com.forgerock.ios.frcore.security" }
    /// The ForgeRock SDK's code.
    public var code: Int { 5_100_001 }
    /// The short description.
    public var message: String { "The public key cannot be read" }
    /// A description of the problem.
    public var description: String { "the public half of the key cannot be read" }
}
