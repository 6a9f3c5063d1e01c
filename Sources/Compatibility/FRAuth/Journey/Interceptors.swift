import FRCore
import SignetCore
import SignetNetwork

/// The registry of interceptors, which is that of FRCore.
public typealias FRRequestInterceptorRegistry = RequestInterceptorRegistry

/// Applies the process's interceptors to each request, and then sets the headers by which servers recognize the SDK.
struct LegacyInterceptors: SignetNetwork.RequestInterceptor {
    let core: FRCoreProcess

    func intercept(_ request: HTTPRequest, for action: RequestAction) async throws -> HTTPRequest {
        var message = request
        if let original = Request(request) {
            let details = action.payload.isEmpty ? nil : action.payload.mapValues { JSONValue.string($0) }
            let action = Action(name: action.name, details: details)
            let changed = core.interceptors.reduce(original) { $1.intercept(request: $0, action: action) }
            message = changed.changes(of: request, from: original)
        }
        message = SDKIdentification.forgeRock().identify(message)
        return message
    }
}
