public import Foundation
import SignetNetwork

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A delegate for the tasks of the SDK's `URLSession`.
public protocol FRURLSessionHandlerProtocol: URLSessionTaskDelegate, Sendable {}

/// The delegate that stops redirects, because an answer of AM can be a redirect with a code in it.
public final class FRURLSessionHandler: NSObject, FRURLSessionHandlerProtocol {
    /// Creates the delegate.
    override public init() { super.init() }

    /// Stops a redirect, so that its answer is the result.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}

/// The public keys of which a server must have one.
public final class FRSecurityConfiguration: NSObject, Sendable {
    /// The base64 of each key's SHA-256.
    let hashes: [String]

    /// Creates a configuration with the base64 of the SHA-256 of each SubjectPublicKeyInfo.
    public init(hashes: [String]) { self.hashes = hashes }

    /// The pins.
    ///
    /// A text that isn't a pin matches no key, so that no server passes if all are wrong.
    var pins: Set<PublicKeyPin> {
        Set(hashes.map { (try? PublicKeyPin($0)) ?? PublicKeyPin(of: Array("not a pin: \($0)".utf8)) })
    }
}

/// A delegate that stands for pinned keys; see ``RestClient/setURLSessionConfiguration(config:handler:)``.
public final class FRURLSessionSSLPinningHandler: NSObject, FRURLSessionHandlerProtocol {
    let security: FRSecurityConfiguration?

    /// Creates the delegate; with nil, any server with a valid certificate is trusted.
    public init(frSecurityConfiguration: FRSecurityConfiguration?) {
        security = frSecurityConfiguration
        super.init()
    }
}
