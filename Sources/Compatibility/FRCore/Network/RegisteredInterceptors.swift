import SignetCore
package import SignetNetwork

/// The interceptors of a process's registry as one interceptor of the engine.
///
/// They get each request as a ``Request``, in the order of the registry at the time of the request.
package struct RegisteredInterceptors: SignetNetwork.RequestInterceptor {
    private let process: FRCoreProcess

    /// Creates the interceptor for the registry of a process.
    package init(_ process: FRCoreProcess) {
        self.process = process
    }

    /// Returns the request with the changes of the interceptors.
    package func intercept(_ request: HTTPRequest, for action: RequestAction) async throws -> HTTPRequest {
        guard let original = Request(request) else { return request }
        let details = action.payload.isEmpty ? nil : action.payload.mapValues { JSONValue.string($0) }
        let action = Action(name: action.name, details: details)
        let changed = process.interceptors.reduce(original) { $1.intercept(request: $0, action: action) }
        return changed.changes(of: request, from: original)
    }
}
