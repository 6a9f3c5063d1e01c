package import SignetNetwork

/// An interceptor of an app that poses as another program.
package struct Disguise: RequestInterceptor {
    package init() {}

    package func intercept(_ request: HTTPRequest, for action: RequestAction) async throws -> HTTPRequest {
        var request = request
        request.headers.set("x-requested-with", "other")
        request.headers.set("X-Requested-Platform", "other")
        return request
    }
}
