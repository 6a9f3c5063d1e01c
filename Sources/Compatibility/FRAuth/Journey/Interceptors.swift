import FRCore
import SignetNetwork

/// The registry of interceptors, which is that of FRCore.
public typealias FRRequestInterceptorRegistry = RequestInterceptorRegistry

extension FRCoreProcess {
    /// The interceptors of the process, and after them the one that sets the headers by which servers recognize the SDK.
    var legacyInterceptors: [any SignetNetwork.RequestInterceptor] {
        [RegisteredInterceptors(self), SDKIdentification.forgeRock()]
    }
}
